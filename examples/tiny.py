"""A tiny model and tokenizer for the examples and tests: one token a byte, and a Qwen2 of a few layers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

Example = Callable[[random.Random], tuple[str, str]]
WARM_ROWS, WARM_LR = 64, 2e-3
PAD, END, MESSAGE, MESSAGE_END = "<|pad|>", "<|eos|>", "<|im_start|>", "<|im_end|>"
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer with 260 tokens: four special ones and the 256 bytes."""
    words = [PAD, END, MESSAGE, MESSAGE_END, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    bytewise = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.decoder = decoders.ByteLevel()
    made: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bytewise, pad_token=PAD, eos_token=END, additional_special_tokens=[MESSAGE, MESSAGE_END]
    )
    made.chat_template = CHAT
    return made


def tiny_model(
    tokenizer: PreTrainedTokenizerFast,
    hidden: int = 128,
    layers: int = 2,
    heads: int = 4,
    seed: int = 0,
    tied: bool = True,
    room: int = 1024,
) -> Any:
    """Return a Qwen2 with random float32 weights; 0.3 M parameters by default.

    Args:
        tokenizer: Its tokenizer.
        hidden: The hidden size.
        layers: The number of layers.
        heads: The number of attention heads; half as many key-value heads.
        seed: The random seed.
        tied: Whether input and output embeddings are tied.
        room: The context length in tokens.
    """
    torch.manual_seed(seed)
    shape = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads // 2,
        max_position_embeddings=room,
        tie_word_embeddings=tied,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(shape)  # type: ignore[no-untyped-call]


def warm_up(folder: Path, seed: int, example: Example, steps: int) -> None:
    """Pre-train a model on examples whose form is right and whose meaning is left to chance.

    Args:
        folder: Where to save it.
        seed: The random seed.
        example: Returns a random prompt and its answer.
        steps: The number of optimiser steps.
    """
    torch.manual_seed(seed)
    draw = random.Random(seed)  # noqa: S311 - no secret
    tokenizer: Any = tiny_tokenizer()
    model = tiny_model(tokenizer, layers=2, seed=seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=WARM_LR, betas=(0.9, 0.95), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / 20, 1.05 - step / steps))
    for _ in range(steps):
        ids, labels = _batch(tokenizer, [example(draw) for _ in range(WARM_ROWS)])
        model(input_ids=ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _batch(tokenizer: Any, texts: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """Return token ids and labels [rows, longest]; labels mask the prompts."""
    rows = [(tokenizer.encode(prompt), [*tokenizer.encode(answer), tokenizer.eos_token_id]) for prompt, answer in texts]
    longest = max(len(prompt) + len(answer) for prompt, answer in rows)
    ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    labels = torch.full_like(ids, -100)
    for row, (prompt, answer) in enumerate(rows):
        ids[row, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
        labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
    return ids, labels
