"""Buckets, checksums and adapters: the forms of weights on their way, which trainer and vLLM workers share.

Checksums add the bits of each number, read as an integer, modulo 2^64. Fusing parameters (q, k and v into one) or
padding them with zeros does not change the sum, so vLLM's weights can be compared with the sent ones. A second sum
multiplies each tensor by a hash of its name and detects swapped tensors.

Adapters: with `sync.delta` a weight's two matrices travel before it, and the workers add their product. The weights
themselves never change, so that a delta has the adapters alone.
"""

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

ALIGN = 16  # bytes; a view of a data type must start at a multiple of its size
Place = Sequence[Any]  # name, data type, shape, first byte; JSON-compatible
CHUNK = 1 << 24  # numbers at a time: an int64 sum copies its input on some devices
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
FIRST, SECOND = ".lora_A", ".lora_B"  # follow the weight's name


@dataclass(frozen=True)
class Bucket:
    """Some tensors. `payload` is [bytes] uint8; `places` lists where each tensor is."""

    places: Sequence[Place]
    payload: Tensor


def pack(weights: Iterable[tuple[str, Tensor]], bucket_bytes: int, device: torch.device) -> Iterator[Bucket]:
    """Yield buckets of so many bytes, unless a single tensor is larger, built on a device.

    Each weight is copied before the next is requested, because it may be valid until then only.
    """
    places: list[Place] = []
    buffer, used = torch.empty(0, dtype=torch.uint8, device=device), 0
    for name, tensor in weights:
        size = tensor.numel() * tensor.element_size()
        if used + size > buffer.numel():
            if places:
                yield Bucket(places, buffer[:used])
            places, used = [], 0
            buffer = torch.empty(max(bucket_bytes, size), dtype=torch.uint8, device=device)
        view = buffer[used : used + size].view(tensor.dtype).view(tensor.shape)
        view.copy_(tensor.detach())
        places.append([name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), used])
        used += math.ceil(size / ALIGN) * ALIGN
    if places:
        yield Bucket(places, buffer[:used])


def unpack(places: Sequence[Place], payload: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors at their places as views of the payload [bytes] uint8."""
    for name, dtype_name, shape, start in places:
        dtype: torch.dtype = getattr(torch, dtype_name)
        size = math.prod(shape) * dtype.itemsize
        yield name, payload[start : start + size].view(dtype).view(shape)


@dataclass
class Checksum:
    """By data type: the sum of all bits, the sum weighted by name, and the count of numbers."""

    plain: dict[str, int] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, weights: Iterable[tuple[str, Tensor]]) -> Self:
        made = cls()
        for name, tensor in weights:
            made.add(name, tensor)
        return made

    def add(self, name: str, tensor: Tensor) -> None:
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
        return asdict(self)


def sum_of_bits(tensor: Tensor) -> int:
    """Return the sum of a tensor's bits, read as integers of its own width."""
    flat = tensor.detach().contiguous().view(-1).view(INTEGERS[tensor.element_size()])
    is_on_cpu = flat.device.type == "cpu"  # where numpy is seven times faster: torch copies
    return int(flat.numpy().sum(dtype=np.int64)) if is_on_cpu else sum_on_device(flat)


def sum_on_device(flat: Tensor) -> int:
    """Return the sum of integers on their own device."""
    return wrap_int64(sum(int(chunk.sum(dtype=torch.int64)) for chunk in torch.split(flat, CHUNK)))


def wrap_int64(value: int) -> int:
    """Wrap an integer value to the range of int64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def merged(weight: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Return weight + second @ first, summed in float32 and rounded to the type of the weight [outputs, inputs]."""
    return (weight.float() + second.float() @ first.float()).to(weight.dtype)


def name_of_weight(name: str) -> str:
    """Return the name of the weight that a tensor of this name belongs to: a weight, or one of its matrices."""
    return name.removesuffix(FIRST).removesuffix(SECOND)


class Merger:
    """Merges weights with the matrices that came before them, in the same or in an earlier call."""

    def __init__(self) -> None:
        self._waiting: dict[str, Tensor] = {}
        self.has_merged = False

    def __call__(self, weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        for name, tensor in weights:
            if name.endswith((FIRST, SECOND)):
                self._waiting[name] = tensor.clone()  # its memory may be used again before the weight comes
            elif name + FIRST in self._waiting:
                matrices = (self._waiting.pop(name + suffix).to(tensor.device) for suffix in (FIRST, SECOND))
                self.has_merged = True
                yield name, merged(tensor, *matrices)
            else:
                yield name, tensor
