"""Compares the result of a call, or parsed JSON, with the expected value.

A result comes from a box as plain JSON; a value of any other type is wrong. Text output is compared in `checkers`.
"""

from __future__ import annotations

import json
from contextlib import suppress

from pydantic_core import from_json, to_json

from sandbox_service.judging import collector, flat_json
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.judging.value_comparison import first_difference
from sandbox_service.judging.value_kinds import SET_TAG, Unordered
from sandbox_service.judging.value_rules import Rules
from sandbox_service.schema import Checker

# A result of up to this many bytes is always parsed, which takes a few milliseconds.
READ_BYTES = 64 << 10
# The longest notation of a number (10**308 as an integer) is this many times as long as the shortest (1e+308).
JSON_GROWTH = 64
# Objects of JSON that are compared: making one takes as long as twenty values in lists.
MOST_OBJECTS = 200_000
_ESCAPED_COLON = b"\\u003"


def check_value(checker: Checker, got: object, expected: object) -> str | None:
    """Compare a value with the expected one.

    A tuple equals a list, since JSON has no tuples; 1 equals 1.0, but not True; NaN equals nothing. Of the checker, the
    tolerances and `ignore_case` apply. With `unordered_lines` the outermost list may be in any order, and a set equals
    a list; otherwise it does not, as returning a set would avoid sorting.

    Args:
        checker: type and options of the comparison.
        got: the submission's value.
        expected: the expected value.

    Returns:
        None if the value is right, else a reason with the path to the first difference: "at [3].x: got 4, expected 5".
    """
    return first_difference(rules_of(checker), iter([(got, expected, None)]))


def rules_of(checker: Checker) -> Rules:
    """Return the rules of a checker for values."""
    return Rules(tolerance_of(checker), checker.ignore_case, any_order=checker.type == "unordered_lines")


@collector.paused()
def check_result(checker: Checker, line: bytes, expected: object) -> str | None:
    """Compare a line of JSON from a box with the expected value.

    The time is bounded by the line's bytes and the expected value's elements: a long line is parsed only if it has no
    more elements than a right one can have.

    Args:
        checker: type and options of the comparison.
        line: JSON from the box.
        expected: the expected value.

    Returns:
        None if the value is right, else a reason as from `check_value`.
    """
    if len(line) > READ_BYTES:
        found = _compared_by_text(rules_of(checker), line, expected)
        if found is not None:
            return found.reason
    try:
        got = _parsed_result(line)
    except (ValueError, RecursionError) as error:
        return f"the result cannot be read: {error}"
    return check_value(checker, got, expected)


def _compared_by_text(rules: Rules, line: bytes, expected: object) -> flat_json.Comparison | None:
    """Return what the text of a long line shows, or None if it must be parsed."""
    others: list[str] = []  # values that JSON has not

    def as_text(value: object) -> str:
        others.append(str(value))
        return others[-1]

    right = json.dumps(expected, default=as_text).encode()
    reason = too_many_objects(right) or too_many_objects(line) or too_many_elements(line, right, sets=True)
    if reason is None and len(line) > JSON_GROWTH * len(right) + READ_BYTES:
        reason = f"the result has {len(line)} bytes, the expected one {len(right)}"
    if reason is not None:
        return flat_json.Comparison(reason)
    return None if others or rules.any_order else flat_json.compare(rules, line, right, parsed_quickly)


def refusal(checker: Checker, expected: object) -> str | None:
    """Return why no result can be right, or None if the expected value itself is one.

    Args:
        checker: type and options of the comparison.
        expected: the expected value.
    """
    reason = check_value(checker, expected, expected)
    return reason if reason is not None else too_many_objects(json.dumps(expected, default=str).encode())


def too_many_objects(text: bytes) -> str | None:
    """Return why a text in JSON is refused before it is parsed, or None if it has at most MOST_OBJECTS objects.

    Args:
        text: JSON.
    """
    if text.count(b"{") <= MOST_OBJECTS:
        return None
    found = flat_json.TEXT.sub(b"", text).count(b"{")
    return f"it has {found} objects, the most is {MOST_OBJECTS}" if found > MOST_OBJECTS else None


def parsed_quickly(data: bytes) -> object:
    """Return the value of a text in JSON, by pydantic's parser, which takes a fifth of the time of Python's.

    Args:
        data: the text.

    Raises:
        ValueError: it is not JSON, or Python's parser may read something else. pydantic's refuses half a surrogate pair
            and integers of more than 4300 digits, and takes the last of several equal keys.
    """
    value = from_json(data, cache_strings="keys")
    if b"{" in data and (_ESCAPED_COLON in data or to_json(value).count(b":") != data.count(b":")):
        raise ValueError("a key may occur twice")
    return value


def _parsed_result(line: bytes) -> object:
    if b"\\" not in line and SET_TAG.encode() not in line:
        with suppress(ValueError):
            return parsed_quickly(line)
    return _DECODER.decode(line.decode("utf-8", "surrogatepass"))


def too_many_elements(text: bytes, right: bytes, *, sets: bool = False) -> str | None:
    """Compare two JSON texts by their brackets and commas.

    Args:
        text: JSON from a box or a program.
        right: the expected JSON as `json.dumps` writes it: it has at least as many of these signs in its strings as any
            other text for the same value.
        sets: an array may be written as a tagged set, and so in braces.

    Returns:
        Why `text` cannot be the same JSON as `right`, or None if it may be.
    """
    lists, objects = right.count(b"["), right.count(b"{")
    most = {b",": right.count(b","), b"[": lists, b"{": objects + lists if sets else objects}
    for sign, count in most.items():
        if (found := text.count(sign)) > count:
            return f"there are {found} '{sign.decode()}' in it, in the expected one {count}"
    return None


def without_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; `json` would take the last of several equal keys, and so one of several answers.

    Args:
        pairs: its keys and values.

    Raises:
        ValueError: a key occurs twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in an object")
    return found


def _untagged(pairs: list[tuple[str, object]]) -> object:
    found = without_repeated_keys(pairs)
    if len(found) != 1 or type(elements := found.get(SET_TAG)) is not list:
        return found
    return Unordered(elements)


_DECODER = json.JSONDecoder(object_pairs_hook=_untagged)
