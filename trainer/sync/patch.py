"""What changed in a piece of a tensor, as bytes: the new numbers, bit for bit, and how far it is from one to the next.

A step at a small learning rate changes few numbers in bfloat16, one in 20 to 100: the way from one to the next fits a
byte, where an index would take four. A way that is too long is broken by numbers that did not change: they are sent
as they are, and nobody need know which they were. Of four forms (ways of 1, 2 or 4 bytes, or all numbers and no ways)
the one is taken that makes the fewest bytes, so a patch is never larger than what it patches.

Numbers are looked at as integers of their width: -0.0 is not 0.0, and a NaN is equal to itself. Little-endian.
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

PIECE = 1 << 20  # numbers at a time: what is made of them on the way fits a cache, or nearly
WIDTHS = (1, 2, 4)  # bytes that say a way; none in a piece is longer than 4 can say
ALL = 0  # in place of a width: all numbers and no ways


@dataclass(frozen=True)
class Patch:
    """`payload`: the numbers, then the ways to them, of `width` bytes each."""

    width: int
    payload: Bytes
    changed: int  # how many numbers are not what they were

    def label(self, name: str, start: int) -> str:
        """All that is to be known of it, which it is called by while it travels: `crc:width:start:name`."""
        rest = f"{self.width}:{start}:{name}"
        return f"{_crc(rest, self.payload)}:{rest}"


def made(old: Numbers, new: Numbers) -> Patch | None:
    """What makes `new` of `old`; None if there is no difference."""
    changed = np.flatnonzero(old != new)
    if not changed.size:
        return None
    if changed.size * (min(WIDTHS) + new.itemsize) < new.nbytes:  # or no way is short enough, and we need not look
        ways = np.diff(changed, prepend=0)
        plan = min((_Plan.of(changed, ways, width) for width in WIDTHS), key=lambda plan: plan.bytes(new.itemsize))
        if plan.bytes(new.itemsize) < new.nbytes:
            return Patch(plan.width, plan.payload(new), changed.size)
    return Patch(ALL, new.view(np.uint8), changed.size)


def apply(payload: Bytes, width: int, numbers: Numbers) -> None:
    """Into the first of these numbers, in place. Raises ValueError or IndexError if it is not for them."""
    if width == ALL:
        numbers[: payload.size // numbers.itemsize] = payload.view(numbers.dtype)
        return
    count, rest = divmod(payload.size, width + numbers.itemsize)
    if rest:
        raise ValueError(f"{payload.size} bytes are no patch with {width} bytes a way")
    values, ways = np.split(payload, [count * numbers.itemsize])
    numbers[np.cumsum(ways.view(f"<u{width}"), dtype=np.int64)] = values.view(numbers.dtype)


def read(label: str, payload: Bytes) -> tuple[str, int, int]:
    """Name, start and width. Raises ValueError if label and payload are not both as they were made."""
    crc, _, rest = label.partition(":")
    if crc != str(_crc(rest, payload)):
        raise ValueError(f"a patch was changed on its way: {rest}")
    width, start, name = rest.split(":", 2)
    return name, int(start), int(width)


def pieces(count: int) -> Iterator[slice]:
    """So many numbers, some at a time."""
    return (slice(start, min(start + PIECE, count)) for start in range(0, count, PIECE))


@dataclass(frozen=True)
class _Plan:
    """Ways of one width, and what it takes: `extra[i]` stops ahead of the number `changed[late[i]]`."""

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
        """The places of what changed, and of what is sent only to get there."""
        left = np.repeat(np.cumsum(self.extra), self.extra) - np.arange(self.extra.sum())
        places = np.repeat(self.changed[self.late], self.extra) - left * _reach(self.width)
        stops: Numbers = np.insert(self.changed, np.repeat(self.late, self.extra), places)
        return stops


def _crc(rest: str, payload: Bytes) -> int:
    """CRC-32, which is another if any one bit is, or any few close together."""
    return zlib.crc32(payload.data, zlib.crc32(rest.encode()))


def _reach(width: int) -> int:
    """The longest way."""
    return int((1 << 8 * width) - 1)
