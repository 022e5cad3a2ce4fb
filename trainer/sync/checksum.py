"""What weights add up to: the same on any device, in any order, fused or apart.

The bits of each number, read as an integer, are added in 64 bits that wrap. Fusing parameters (q, k and v into one)
or padding them with zeros does not change the sum, so that what vLLM holds can be compared with what was sent. A
second sum weighs each tensor with its name, so that two that changed places are found. This is against mistakes, not
against anybody: what it cannot see (an error that adds up to nothing, a layout that is wrong) the probe sees.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

CHUNK = 1 << 24  # numbers at a time: a sum in 64 bits makes a copy of them on some devices
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass
class Checksum:
    """By data type: the sum of all bits, the same weighed by name, and how many numbers."""

    plain: dict[str, int] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, weights: Iterable[tuple[str, Tensor]]) -> Checksum:
        """Of all of them."""
        made = cls()
        for name, tensor in weights:
            made.add(name, tensor)
        return made

    def add(self, name: str, tensor: Tensor) -> None:
        """Take in a tensor of any shape."""
        dtype, total = str(tensor.dtype), bits(tensor)
        self.plain[dtype] = wrapped(self.plain.get(dtype, 0) + total)
        self.named[dtype] = wrapped(self.named.get(dtype, 0) + total * zlib.crc32(name.encode()))
        self.numbers[dtype] = self.numbers.get(dtype, 0) + tensor.numel()

    def over(self, weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """The same weights, taken in as they pass."""
        for name, tensor in weights:
            self.add(name, tensor)
            yield name, tensor

    def as_json(self) -> dict[str, Any]:
        """Plain dicts of integers that fit 64 bits."""
        return {"plain": self.plain, "named": self.named, "numbers": self.numbers}


def bits(tensor: Tensor) -> int:
    """The sum of a tensor's bits, read as integers of its own width."""
    flat = tensor.detach().contiguous().view(-1).view(INTEGERS[tensor.element_size()])
    if flat.device.type == "cpu":  # seven times as fast as torch, which copies
        return int(flat.numpy().sum(dtype=np.int64))
    return on_device(flat)


def on_device(flat: Tensor) -> int:
    """The sum of integers [n], where they are."""
    return wrapped(sum(int(chunk.sum(dtype=torch.int64)) for chunk in torch.split(flat, CHUNK)))


def wrapped(value: int) -> int:
    """Into the range of a signed integer of 64 bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
