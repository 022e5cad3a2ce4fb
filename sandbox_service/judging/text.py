"""Splits large texts piece by piece, and describes the first difference of two texts; the caller decides equality."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress, islice, zip_longest
from operator import ne

SHOWN_BYTES = 40
# Texts are split in pieces of this size, because the words of a large text would take many times its memory.
PIECE_BYTES = 1 << 20
# Lines and words are compared in groups of this many: one call for a group costs a fraction of a call for each.
GROUP = 1024

_SPACE = re.compile(rb"\s")


def words(data: bytes) -> Iterator[bytes]:
    """Yield the words of `data.split()`, piece by piece.

    Args:
        data: the text.

    Returns:
        An iterator over the words.
    """
    if len(data) <= PIECE_BYTES:
        return iter(data.split())
    return chain.from_iterable(piece.split() for piece in _pieces(data))


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield slices whose ends are not inside a word."""
    start = 0
    while start < len(data):
        space = _SPACE.search(data, start + PIECE_BYTES)
        end = space.start() if space else len(data)
        yield data[start:end]
        start = end


def line_pieces(data: bytes) -> Iterator[bytes]:
    """Yield slices that end with a line end; the last ends where the text does.

    Args:
        data: the text.
    """
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + PIECE_BYTES) + 1 or len(data)
        yield data[start:end]
        start = end


def groups(left: Iterable[bytes], right: Iterable[bytes]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield the next lines or words of both sides, GROUP at a time; the last group of a side is shorter, or empty.

    Args:
        left: lines or words.
        right: other lines or words.
    """
    lefts, rights = iter(left), iter(right)
    while True:
        group = list(islice(lefts, GROUP)), list(islice(rights, GROUP))
        if not any(group):
            return
        yield group


def first_wrong_line(
    output: Iterable[bytes],
    expected: Iterable[bytes],
    are_right: Callable[[Sequence[bytes], Sequence[bytes]], bool] | None = None,
) -> str | None:
    """Return a reason for the first line that is wrong, missing or surplus, or None. Lines are numbered as they come.

    Args:
        output: the program's lines.
        expected: the expected lines.
        are_right: returns True if all of some unequal lines, as many on both sides, are right; None: none is.
    """
    for index, (gots, wanteds) in enumerate(groups(output, expected)):
        if gots == wanteds or (
            are_right is not None and len(gots) == len(wanteds) and are_right(*unequal(gots, wanteds))
        ):
            continue
        for number, (got, wanted) in enumerate(zip_longest(gots, wanteds), index * GROUP + 1):
            if got is None:
                return f"the output ends before line {number}: expected {shown(wanted)}"
            if wanted is None:
                return f"line {number}: got {shown(got)}, expected the end of the output"
            if got != wanted and (are_right is None or not are_right([got], [wanted])):
                return _difference(number, got, wanted)
    return None


def unequal(left: Sequence[bytes], right: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the pairs that differ, of two sequences of one length.

    Args:
        left: a sequence.
        right: another sequence.
    """
    differ = list(map(ne, left, right))
    return list(compress(left, differ)), list(compress(right, differ))


def _difference(line: int, got: bytes, expected: bytes) -> str:
    """Show short lines in full, long ones from the first difference on."""
    start = 0 if max(len(got), len(expected)) <= SHOWN_BYTES else _common_prefix(got, expected)
    where = f"line {line}, byte {start + 1}" if start else f"line {line}"
    return f"{where}: got {shown(got[start:])}, expected {shown(expected[start:])}"


def _common_prefix(left: bytes, right: bytes) -> int:
    """Return the length of the common prefix, by bisection: comparing slices is far faster than looping over bytes."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shown(text: bytes) -> str:
    """Return the start of a text as a Python literal.

    Args:
        text: the text.
    """
    cut = repr(text[:SHOWN_BYTES].decode("utf-8", "replace"))
    return cut if len(text) <= SHOWN_BYTES else f"{cut}…"
