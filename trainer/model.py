"""Loads a Hugging Face model for training, with the attention that the configuration and the machine allow."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trainer import attention, lora
from trainer.config import Config
from trainer.errors import ConfigError
from trainer.logprob import Scorer

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


def load(config: Config, path: str, sequence_group: Any = None, trains: bool = True) -> Scorer:
    """Return a Hugging Face model in host memory with dropout off, so that ratios are 1 before the first step.

    Args:
        config: The run's configuration.
        path: A folder, or a name on the hub.
        sequence_group: The ranks over which rows are split.
        trains: Whether the model is trained; it then gets the configured adapters.

    Raises:
        ConfigError: The model does not exist, `logprob.Scorer` does not support its architecture, or peft is missing.
    """
    from transformers import AutoModelForCausalLM

    chosen = _attention(config, sequence_group is not None)
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            path, dtype=DTYPES[config.model.dtype], attn_implementation=chosen
        )
        scorer = Scorer(model, config.model.chunk_tokens, config.loss.entropy_bonus > 0, sequence_group)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(f"model {path}: {error}") from None
    if config.lora.rank and trains:
        lora.add_adapters(model, config.lora)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    return scorer


def _attention(config: Config, is_split: bool) -> str:
    """Return the attention's name in transformers, which makes no mask for one without a mask function."""
    from transformers import AttentionInterface
    from transformers.utils.import_utils import is_flash_attn_2_available

    AttentionInterface.register(attention.ROWS, attention.attend)
    is_flash_usable = config.model.dtype != "float32" and bool(is_flash_attn_2_available())
    return attention.choose(config.model.attention, is_flash_usable, is_split)
