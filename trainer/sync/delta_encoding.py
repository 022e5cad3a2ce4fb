"""Encodes the changed numbers of a tensor piece: their new bits, and the distances between their positions.

A step at a small learning rate changes one bfloat16 number in 20 to 100, so distances fit one byte where an index would
take four. A distance that is too long is split by including unchanged numbers. Of four forms (distances of 1, 2 or 4
bytes, or all numbers without distances) the smallest is chosen, so a patch is never larger than the piece.

Numbers are compared as integers of their width: -0.0 differs from 0.0, and a NaN equals itself. Little-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]  # [n] integers
Bytes = NDArray[np.uint8]

PIECE = 1 << 20  # numbers at a time, so that intermediate arrays nearly fit a cache
WIDTHS = (1, 2, 4)  # bytes of a distance; 4 suffice for a piece
DENSE = 0  # in place of a width: all numbers, no distances


@dataclass(frozen=True)
class Patch:
    """`payload` is the new numbers followed by the distances to them, of `width` bytes each."""

    width: int
    payload: Bytes
    changed: int  # the number of changed numbers

    def label(self, name: str, start: int) -> str:
        """Return the name of the patch in a bucket, with the index where its piece starts: `crc:width:start:name`."""
        rest = f"{self.width}:{start}:{name}"
        return f"{_crc(rest, self.payload)}:{rest}"


def encode(old: Numbers, new: Numbers) -> Patch | None:
    """Return the patch from one piece to another [n], None if they are equal."""
    changed = np.flatnonzero(old != new)
    if not changed.size:
        return None
    if changed.size * (min(WIDTHS) + new.itemsize) < new.nbytes:  # otherwise no form with distances is smaller
        ways = np.diff(changed, prepend=0)
        plan = min((_Plan.of(changed, ways, width) for width in WIDTHS), key=lambda plan: plan.bytes(new.itemsize))
        if plan.bytes(new.itemsize) < new.nbytes:
            return Patch(plan.width, plan.payload(new), changed.size)
    return Patch(DENSE, new.view(np.uint8), changed.size)


def decode_into(payload: Bytes, width: int, numbers: Numbers) -> None:
    """Apply a patch of a width in place, to the numbers from its piece's first one on.

    Raises:
        ValueError: The payload has an invalid size.
        IndexError: The patch reaches beyond the numbers.
    """
    if width == DENSE:
        numbers[: payload.size // numbers.itemsize] = payload.view(numbers.dtype)
        return
    count, rest = divmod(payload.size, width + numbers.itemsize)
    if rest:
        raise ValueError(f"{payload.size} bytes are not a patch with distances of {width} bytes")
    values, ways = np.split(payload, [count * numbers.itemsize])
    numbers[np.cumsum(ways.view(f"<u{width}"), dtype=np.int64)] = values.view(numbers.dtype)


def parse_label(label: str, payload: Bytes) -> tuple[str, int, int]:
    """Return the parts of a patch's label, whose CRC of the payload is checked: name, start and width.

    Raises:
        ValueError: Label or payload are damaged.
    """
    crc, _, rest = label.partition(":")
    if crc != str(_crc(rest, payload)):
        raise ValueError(f"a patch was changed on its way: {rest}")
    width, start, name = rest.split(":", 2)
    return name, int(start), int(width)


def pieces(count: int) -> Iterator[slice]:
    """Yield the slices of a tensor of `count` numbers that are encoded separately."""
    return (slice(start, min(start + PIECE, count)) for start in range(0, count, PIECE))


@dataclass(frozen=True)
class _Plan:
    """An encoding with distances of one width: `extra[i]` additional stops before the number `changed[late[i]]`."""

    width: int
    changed: Numbers
    late: Numbers
    extra: Numbers

    @classmethod
    def of(cls, changed: Numbers, ways: Numbers, width: int) -> _Plan:
        late = np.flatnonzero(ways > _reach(width))
        return cls(width, changed, late, (ways[late] - 1) // _reach(width))

    def bytes(self, itemsize: int) -> int:
        return (self.changed.size + int(self.extra.sum())) * (self.width + itemsize)

    def payload(self, new: Numbers) -> Bytes:
        stops = self.stops()
        ways = np.diff(stops, prepend=0).astype(f"<u{self.width}")
        return np.concatenate([new[stops].view(np.uint8), ways.view(np.uint8)])

    def stops(self) -> Numbers:
        """Return the positions of changed numbers and of the additional stops."""
        left = np.repeat(np.cumsum(self.extra), self.extra) - np.arange(self.extra.sum())
        places = np.repeat(self.changed[self.late], self.extra) - left * _reach(self.width)
        stops: Numbers = np.insert(self.changed, np.repeat(self.late, self.extra), places)
        return stops


def _crc(rest: str, payload: Bytes) -> int:
    """Return the CRC-32 of label and payload."""
    return zlib.crc32(payload.data, zlib.crc32(rest.encode()))


def _reach(width: int) -> int:
    """Return the longest distance of a width."""
    return int((1 << 8 * width) - 1)
