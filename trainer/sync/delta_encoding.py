"""Encodes the changed numbers of a tensor piece: their new bits, and the distances between their positions.

A step at a small learning rate changes one bfloat16 number in 20 to 100, so distances fit one byte where an index would
take four; a longer one takes a byte more for each 255. Where all numbers take fewer bytes, they are sent without
distances, so a patch is never larger than the piece.

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
SKIP = 255  # a byte that only moves the position on
ALL = 0  # in place of a count: all numbers, no distances


@dataclass(frozen=True)
class Patch:
    """`payload` is `count` new numbers, followed by the distances to them; or all numbers, if `count` is ALL."""

    count: int
    payload: Bytes
    changed: int  # the number of changed numbers

    def label(self, name: str, start: int) -> str:
        """Return the name of the patch in a bucket, with the index where its piece starts: `crc:count:start:name`."""
        rest = f"{self.count}:{start}:{name}"
        return f"{_crc(rest, self.payload)}:{rest}"


def encode(old: Numbers, new: Numbers) -> Patch | None:
    """Return the patch from one piece to another [n], None if they are equal."""
    changed = np.flatnonzero(old != new)
    if not changed.size:
        return None
    if changed.size * (1 + new.itemsize) < new.nbytes:
        skips, rest = np.divmod(np.diff(changed, prepend=0), SKIP)
        ends = np.cumsum(skips + 1)  # of the bytes of each distance
        distances = np.full(ends[-1], SKIP, np.uint8)
        distances[ends - 1] = rest
        payload = np.concatenate([new[changed].view(np.uint8), distances])
        if payload.size < new.nbytes:
            return Patch(changed.size, payload, changed.size)
    return Patch(ALL, new.view(np.uint8), changed.size)


def decode_into(payload: Bytes, count: int, numbers: Numbers) -> None:
    """Apply a patch, its payload and count, in place to the numbers from its piece's first one on.

    Raises:
        ValueError: The payload has an invalid size.
        IndexError: The patch reaches beyond the numbers.
    """
    if count == ALL:
        numbers[: payload.size // numbers.itemsize] = payload.view(numbers.dtype)
        return
    values, distances = np.split(payload, [count * numbers.itemsize])
    places = np.cumsum(distances, dtype=np.int64)[distances < SKIP]
    if places.size != count:
        raise ValueError(f"{payload.size} bytes are not a patch of {count} numbers")
    numbers[places] = values.view(numbers.dtype)


def parse_label(label: str, payload: Bytes) -> tuple[str, int, int]:
    """Return the parts of a patch's label, whose CRC of the payload is checked: name, start and count.

    Raises:
        ValueError: Label or payload are damaged.
    """
    crc, _, rest = label.partition(":")
    if crc != str(_crc(rest, payload)):
        raise ValueError(f"a patch was changed on its way: {rest}")
    count, start, name = rest.split(":", 2)
    return name, int(start), int(count)


def pieces(size: int) -> Iterator[slice]:
    """Yield the slices of a tensor of `size` numbers that are encoded separately."""
    return (slice(start, min(start + PIECE, size)) for start in range(0, size, PIECE))


def _crc(rest: str, payload: Bytes) -> int:
    return zlib.crc32(payload.data, zlib.crc32(rest.encode()))
