"""Compares long JSON made of lists by its text: the nesting by its signs, and the values as one flat list.

Parsing makes an object for each bracket, and for deep lists making, comparing and freeing them takes most of the time.
The signs of two texts, with one mark for each value, are equal if and only if their nesting is. The flat lists of the
values are then compared like any others.

Texts with objects are left to the caller, and so are texts with few lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from sandbox_service.judging.value_comparison import first_unequal
from sandbox_service.judging.value_rules import Rules
from sandbox_service.judging.value_text import Path, difference, location

LEAST_BYTES = 64 << 10  # a shorter text is parsed in some milliseconds
MOST_DEPTH = 960  # deeper lists are refused by Python's parser
BYTES_PER_LIST = 32  # texts with fewer lists gain nothing

_BLANKS = b" \t\r\n"
_VALUE = b"0"
_AS_SIGNS = bytes(byte if byte in b"[]," else _VALUE[0] for byte in range(256))
_AS_VALUES = bytes.maketrans(b"[]", b"  ")
# None begins at an escaped quote, so that a text without an end is read once.
TEXT = re.compile(rb'(?<!\\)"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_EMPTY = re.compile(rb"\[[ \t\r\n]*+\]")
_NO_NEIGHBOURS = b"[,", b",,", b",]", b"][", b"]0", b"0["
_INNERMOST = re.compile(rb"\[[0,]*+\]")
_NAMES = {"[": "a list", "]": "the end of a list", ",": "another element", "0": "a value", "": "the end"}


Parser = Callable[[bytes], object]


class Comparison(NamedTuple):
    """The result of a comparison: the reason of a difference, or None."""

    reason: str | None


class _Flat(NamedTuple):
    """Signs of a text with `_VALUE` for each value, and the text of its values."""

    signs: bytes
    values: bytes


def compare(rules: Rules, got: bytes, expected: bytes, parse: Parser) -> Comparison | None:
    """Compare two texts, if they are made of many lists.

    Args:
        rules: the rules for the values. The order of elements counts.
        got: JSON from a box or a program.
        expected: the expected JSON.
        parse: reads JSON; raises ValueError for anything else.

    Returns:
        What was found; None if the caller has to parse the texts.
    """
    if len(got) < LEAST_BYTES or not (_is_made_of_lists(got) and _is_made_of_lists(expected)):
        return None
    right, claimed = _flattened(expected), _flattened(got)
    if right is None or claimed is None or not _is_list(right.signs):
        return None
    try:
        return _compared(rules, claimed, right, parse)
    except (ValueError, RecursionError):  # the caller's message is better
        return None


def _is_made_of_lists(text: bytes) -> bool:
    return b"{" not in text and text.count(b"[") * BYTES_PER_LIST > len(text)


def _flattened(text: bytes) -> _Flat | None:
    """Return the parts of a text; None if texts in it have signs, or no end."""
    bare = text
    if b'"' in text:
        bare = TEXT.sub(_VALUE, text)
        if b'"' in bare or any(bare.count(sign) != text.count(sign) for sign in (b"[", b"]")):
            return None
    signs = bare.translate(_AS_SIGNS, _BLANKS)
    while b"00" in signs:
        signs = signs.replace(b"00", _VALUE)
    if empty := signs.count(b"[]"):  # in both texts at the same places, if their signs are equal
        text = text.replace(b"[]", b"null") if text.count(b"[]") == empty else _EMPTY.sub(b"null", text)
    return _Flat(signs, text.translate(_AS_VALUES))


def _compared(rules: Rules, got: _Flat, expected: _Flat, parse: Parser) -> Comparison:
    if got.signs != expected.signs:
        return Comparison(_first_other_sign(got.signs, expected.signs))
    values, wanted = _values(got, parse), _values(expected, parse)
    place = first_unequal(rules, values, wanted)
    if place is None:
        return Comparison(None)
    return Comparison(location(_path_of_value(expected.signs, place)) + difference(values[place], wanted[place]))


def _values(flat: _Flat, parse: Parser) -> list[Any]:
    return cast(list[Any], parse(b"[%b]" % flat.values))


def _is_list(signs: bytes) -> bool:
    """Return whether these are the signs of one list in JSON, not too deep for other parsers."""
    if any(pair in signs for pair in _NO_NEIGHBOURS):
        return False
    brackets = signs[1:-1].translate(None, b"0,")
    levels = MOST_DEPTH
    for depth in (64, 8, 1):
        pairs = b"[" * depth + b"]" * depth
        while levels >= depth and pairs in brackets:
            brackets = brackets.replace(pairs, b"")
            levels -= depth
    return signs[:1] == b"[" and signs[-1:] == b"]" and not brackets


def _first_other_sign(got: bytes, expected: bytes) -> str:
    least, most = 0, min(len(got), len(expected))
    while least < most:  # they are equal up to `least`, and not up to `most` + 1
        middle = (least + most + 1) // 2
        least, most = (middle, most) if got[:middle] == expected[:middle] else (least, middle - 1)
    found, wanted = (_NAMES[signs[least : least + 1].decode()] for signs in (got, expected))
    return f"{location(_path(expected[:least]))}got {found}, expected {wanted}"


def _path_of_value(signs: bytes, number: int) -> Path:
    """Return the path to the value of this number; an empty list is a value."""
    signs = signs.replace(b"[]", _VALUE)
    begin, end = 0, len(signs)
    while end - begin > 1:  # `number` values from `begin` on, the value is before `end`
        middle = (begin + end) // 2
        before = signs.count(_VALUE, begin, middle)
        begin, end, number = (middle, end, number - before) if before <= number else (begin, middle, number)
    return _path(signs[:begin])


def _path(signs: bytes) -> Path:
    """Return the path to what follows these signs: the number of elements before it in each list that is open."""
    for closed in (b"[0]", b"[]", b"[0,0]"):
        signs = _without(signs, closed)
    length = 0
    while length != len(signs):
        length = len(signs)
        signs = _INNERMOST.sub(_VALUE, signs)
    path: Path = None
    for inside in signs.split(b"[")[1:]:
        path = path, "[{}]", inside.count(b",")
    return path


def _without(signs: bytes, closed: bytes) -> bytes:
    while closed in signs:
        signs = signs.replace(closed, _VALUE)
    return signs
