"""Loads a Hugging Face model for training, with the attention that the configuration and the machine allow.

With `lora.rank`, only low-rank adapters (LoRA, Hu et al., arXiv 2106.09685) by peft are trained: each linear layer but
the output embedding gets two matrices A [rank, inputs] and B [outputs, rank], and computes with W + (alpha / rank) B A.
The rest of the trainer sees whole weights by their usual names: vLLM gets the sums, and a checkpoint's `model/` has
them. With `sync.delta` vLLM gets the matrices; see sync/weights.py.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from trainer import attention
from trainer.config import Config
from trainer.config.sections import Lora
from trainer.errors import ConfigError
from trainer.logprob import Scorer
from trainer.sync.weights import FIRST, SECOND, merged

BASE = ".base_layer."  # in peft's names of the parameters of a layer with adapters
DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


def load(config: Config, path: str, sequence_group: dist.ProcessGroup | None = None, trains: bool = True) -> Scorer:
    """Return the Hugging Face model of a path, in host memory, without dropout: ratios are 1 before the first step.

    Rows are split over the ranks of a `sequence_group`. A model that `trains` gets the configured adapters.

    Raises:
        ConfigError: The model does not exist, is not supported, or cannot be split so, or peft is missing.
    """
    from transformers import AutoModelForCausalLM

    if config.lora.rank and importlib.util.find_spec("peft") is None:
        raise ConfigError("lora.rank: peft is not installed: pip install 'proctor[lora]', or set lora.rank = 0")
    chosen, dtype = attention_of(config, sequence_group is not None), DTYPES[config.model.dtype]
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=dtype, attn_implementation=chosen)
        scorer = Scorer(model, config.model.chunk_tokens, config.loss.entropy_bonus > 0, sequence_group)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(f"model {path}: {error}") from None
    heads, shares = model.config.num_attention_heads, config.deepspeed.sequence_parallel
    if heads % shares:
        raise ConfigError(
            f"deepspeed.sequence_parallel is {shares}, which does not divide the {heads} attention heads of {path}"
        )
    if config.lora.rank and trains:
        add_adapters(model, config.lora)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    return scorer


def attention_of(config: Config, is_split: bool) -> str:
    """Return the attention's name in transformers. Rows split over ranks (is_split) need this trainer's own."""
    from transformers import AttentionInterface
    from transformers.utils import import_utils

    AttentionInterface.register(attention.ROWS, attention.attend)
    wanted, is_float32 = config.model.attention, config.model.dtype == "float32"
    if wanted == "auto" and not (is_split or is_float32) and import_utils.is_flash_attn_2_available():
        return "flash_attention_2"
    return attention.ROWS if wanted in ("auto", "rows") else wanted


@dataclass(frozen=True)
class Weight:
    """A weight by its Hugging Face name, and its parameters: itself, and A and B if it has adapters."""

    name: str
    parameters: Sequence[nn.Parameter]
    scaling: float = 1.0

    def whole(self) -> Tensor:
        *adapters, own = (tensor for _, tensor in self.parts())
        return merged(own, *adapters) if adapters else own

    def parts(self) -> list[tuple[str, Tensor]]:
        """Return names and tensors: A and B with its scaling, if there are adapters, and W."""
        own, *adapters = (each.detach() for each in self.parameters)
        if not adapters:
            return [(self.name, own)]
        first, second = adapters
        return [(self.name + FIRST, first), (self.name + SECOND, second * self.scaling), (self.name, own)]


def add_adapters(model: nn.Module, settings: Lora) -> None:
    """Add adapters to a model in place, with B = 0, and freeze its other weights."""
    from peft import LoraConfig, inject_adapter_in_model

    adapters: Any = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules="all-linear")
    inject_adapter_in_model(adapters, model)


def weights_of(model: nn.Module) -> Iterator[Weight]:
    """Yield all weights of a model with or without adapters. Under ZeRO-3 its parameters may be partitioned."""
    parameters = dict(model.named_parameters())
    for name, parameter in parameters.items():
        layer, is_adapted, kind = name.partition(BASE)
        if is_adapted and kind == "weight":
            adapters = [parameters[f"{layer}.lora_{each}.default.weight"] for each in "AB"]
            module: Any = model.get_submodule(layer)
            yield Weight(f"{layer}.weight", [parameter, *adapters], module.scaling["default"])
        elif ".lora_" not in name:
            yield Weight(name.replace(BASE, "."), [parameter])
