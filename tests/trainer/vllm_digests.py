"""Digests of the parameters that vLLM must have for given weights; `sabotage` reads the actual ones."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import torch
from torch import Tensor

Digests = dict[str, Any]  # by parameter

FUSED = {"q": "qkv_proj", "k": "qkv_proj", "v": "qkv_proj", "gate": "gate_up_proj", "up": "gate_up_proj"}
PART = re.compile(r"\b(q|k|v|gate|up)_proj\b")


def digest(tensor: Tensor) -> list[Any]:
    """SHA-256 of its bits, in order, and how long each side is."""
    bits = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
    return [hashlib.sha256(bits.data).hexdigest(), *tensor.shape]


def held_by_vllm(weights: dict[str, Tensor], said: Digests) -> Digests:
    """The digests of a Qwen2 of vLLM's with these weights: some are one, some have rows of zeros at the end."""
    parts: dict[str, list[Tensor]] = {}
    for name, tensor in weights.items():
        parts.setdefault(PART.sub(lambda found: FUSED[found[1]], name), []).append(tensor)
    return {name: digest(_padded(torch.cat(each), said[name][1])) for name, each in parts.items()}


def _padded(tensor: Tensor, rows: int) -> Tensor:
    return torch.cat([tensor, tensor.new_zeros(rows - len(tensor), *tensor.shape[1:])])
