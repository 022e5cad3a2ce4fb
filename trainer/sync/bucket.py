"""Packs weights into byte buffers: few large transfers are faster than hundreds of small ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

ALIGN = 16  # bytes; a view of a data type must start at a multiple of its size

Place = Sequence[Any]  # name, data type, shape, first byte; JSON-compatible


@dataclass(frozen=True)
class Bucket:
    """Some tensors. `payload` is [bytes] uint8; `places` lists where each tensor is."""

    places: Sequence[Place]
    payload: Tensor


def pack(weights: Iterable[tuple[str, Tensor]], bucket_bytes: int, device: torch.device) -> Iterator[Bucket]:
    """Yield buckets. Each weight is copied before the next is requested, because it may be valid until then only.

    Args:
        weights: Names and tensors.
        bucket_bytes: The size of a bucket, unless a single tensor is larger.
        device: Where to build the buckets.
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
