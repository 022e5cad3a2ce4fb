"""Checksums of weights that do not depend on device, order or fusion of tensors.

The bits of each number, read as an integer, are added modulo 2^64. Fusing parameters (q, k and v into one) or padding
them with zeros does not change the sum, so vLLM's weights can be compared with the sent ones. A second sum multiplies
each tensor by a hash of its name and detects swapped tensors. This protects against mistakes, not against attacks.
Errors that cancel out, or a wrong layout, are left to the probe (`syncer`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

CHUNK = 1 << 24  # numbers at a time: an int64 sum copies its input on some devices
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass
class Checksum:
    """By data type: the sum of all bits, the sum weighted by name, and the count of numbers."""

    plain: dict[str, int] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, weights: Iterable[tuple[str, Tensor]]) -> Checksum:
        """Return the checksum of all weights."""
        made = cls()
        for name, tensor in weights:
            made.add(name, tensor)
        return made

    def add(self, name: str, tensor: Tensor) -> None:
        """Add a tensor by its name."""
        dtype, total = str(tensor.dtype), sum_of_bits(tensor)
        self.plain[dtype] = wrap_int64(self.plain.get(dtype, 0) + total)
        self.named[dtype] = wrap_int64(self.named.get(dtype, 0) + total * zlib.crc32(name.encode()))
        self.numbers[dtype] = self.numbers.get(dtype, 0) + tensor.numel()

    def tee(self, weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """Yield the weights unchanged and add each one."""
        for name, tensor in weights:
            self.add(name, tensor)
            yield name, tensor

    def as_json(self) -> dict[str, Any]:
        """Return dicts of integers that fit 64 bits."""
        return {"plain": self.plain, "named": self.named, "numbers": self.numbers}


def sum_of_bits(tensor: Tensor) -> int:
    """Return the sum of a tensor's bits, read as integers of its own width."""
    flat = tensor.detach().contiguous().view(-1).view(INTEGERS[tensor.element_size()])
    if flat.device.type == "cpu":  # numpy is seven times faster: torch copies
        return int(flat.numpy().sum(dtype=np.int64))
    return sum_on_device(flat)


def sum_on_device(flat: Tensor) -> int:
    """Return the sum of integers on their own device."""
    return wrap_int64(sum(int(chunk.sum(dtype=torch.int64)) for chunk in torch.split(flat, CHUNK)))


def wrap_int64(value: int) -> int:
    """Wrap an integer value to the range of int64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
