"""Large texts, a piece at a time, and in a few words where two of them differ. Which differences matter, others say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, zip_longest
from operator import eq

SHOWN_BYTES = 40
# Words are split off in pieces of this size: all those of a large text at once would take many times its memory.
PIECE_BYTES = 1 << 20

_SPACE = re.compile(rb"\s")


def words(data: bytes) -> Iterator[bytes]:
    """`data.split()`, a piece at a time."""
    return chain.from_iterable(piece.split() for piece in _pieces(data))


def _pieces(data: bytes) -> Iterator[bytes]:
    """Slices that begin and end where no word does."""
    start = 0
    while start < len(data):
        space = _SPACE.search(data, start + PIECE_BYTES)
        end = space.start() if space else len(data)
        yield data[start:end]
        start = end


def first_wrong_line(
    output: Iterable[bytes], expected: Iterable[bytes], is_right: Callable[[bytes, bytes], bool] = eq
) -> str | None:
    """The first line that is not right, or missing, or too many, if there is one. Lines are counted as they come."""
    for number, (got, wanted) in enumerate(zip_longest(output, expected), 1):
        if got is None:
            return f"the output ends before line {number}: expected {shown(wanted)}"
        if wanted is None:
            return f"line {number}: got {shown(got)}, expected the end of the output"
        if not is_right(got, wanted):
            return _difference(number, got, wanted)
    return None


def _difference(line: int, got: bytes, expected: bytes) -> str:
    """Short lines are shown whole, of long ones what follows the first difference."""
    start = 0 if max(len(got), len(expected)) <= SHOWN_BYTES else _common_prefix(got, expected)
    where = f"line {line}, byte {start + 1}" if start else f"line {line}"
    return f"{where}: got {shown(got[start:])}, expected {shown(expected[start:])}"


def _common_prefix(left: bytes, right: bytes) -> int:
    """The length of what both begin with, found by bisection: comparing slices is far faster than bytes in a loop."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shown(text: bytes) -> str:
    """As it is written in Python, cut."""
    cut = repr(text[:SHOWN_BYTES].decode("utf-8", "replace"))
    return cut if len(text) <= SHOWN_BYTES else f"{cut}…"
