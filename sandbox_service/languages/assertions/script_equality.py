"""Equality of JavaScript, between the result of a call and a literal of a test program.

The driver writes a value exactly: what JSON lacks is an object with `__js__`, which says `undefined`, `bigint` (`own`
is its digits), `instance` (an object or array with another prototype or with symbols; `own` is what it holds), or
`other` for what equals no literal. Literals `undefined` and `1n` are written in the same way.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TAG = "__js__"
UNDEFINED: dict[str, Any] = {TAG: "undefined", "own": None}
_MOST_GROWTH, _MOST_BYTES = 64, 64 << 10
"""How much longer the notation of an equal value can be."""


@dataclass(frozen=True)
class _Special:
    """A value that JSON has not."""

    kind: str
    own: Any = None


_NOTHING = (None, _Special("undefined"))


def big_integer(digits: str) -> dict[str, Any]:
    """Return a literal as the driver writes it.

    Args:
        digits: of a literal like `1n`.
    """
    return {TAG: "bigint", "own": digits}


def is_equal(equality: str, line: bytes, expected: Any) -> bool | None:
    """Return whether a result equals a literal; None if it cannot be read, or `==` would convert an object.

    Args:
        equality: a name of EQUALITIES.
        line: the result as the driver writes it.
        expected: the literal.
    """
    right = json.dumps(expected).encode()
    if len(line) > _MOST_GROWTH * len(right) + _MOST_BYTES:
        return False
    got = _read(line)
    return None if got is _UNREADABLE else EQUALITIES[equality](got, _read(right))


def is_near(line: bytes, expected: float, tolerance: float) -> bool | None:
    """Return whether the difference of a result and a number is at most the tolerance; None if it cannot be taken.

    Args:
        line: the result as the driver writes it.
        expected: the number.
        tolerance: the largest difference.
    """
    got = _read(line) if len(line) <= _MOST_BYTES else _UNREADABLE
    if got is _UNREADABLE or (isinstance(got, _Special) and got.kind == "bigint"):
        return None
    distance = abs(_number(got) - expected)
    return None if math.isnan(distance) else distance <= tolerance


def is_true(line: bytes) -> bool | None:
    """Return the truth value of a result; None if it has none.

    Args:
        line: the result as the driver writes it.
    """
    if len(line) > _MOST_BYTES:
        return True
    got = _read(line)
    if got is _UNREADABLE:
        return None
    if isinstance(got, _Special):
        return got.kind != "undefined" and not (got.kind == "bigint" and not got.own)
    return isinstance(got, list | dict) or (bool(got) and not _is_nan(got))


def _strict(got: Any, expected: Any) -> bool:
    return _kind(got) == _kind(expected) and _kind(got) is not object and bool(got == expected)


def _same(got: Any, expected: Any) -> bool:
    """Compare as Object.is does."""
    if _is_nan(got) or _is_nan(expected):
        return _is_nan(got) and _is_nan(expected)
    return _strict(got, expected) and (got != 0 or _sign(got) == _sign(expected))


def _loose(got: Any, expected: Any) -> bool | None:
    if got in _NOTHING or expected in _NOTHING:
        return got in _NOTHING and expected in _NOTHING
    if object in (_kind(got), _kind(expected)):
        return None
    return bool(got == expected) if _kind(got) == _kind(expected) else bool(_number(got) == _number(expected))


def _deep(got: Any, expected: Any) -> bool:
    got = got.own if isinstance(got, _Special) and got.kind == "instance" else got
    if object in (_kind(got), _kind(expected)):
        return _alike(got, expected, _deep)
    return _loose(got, expected) is True or (_is_nan(got) and _is_nan(expected))


def _deep_strict(got: Any, expected: Any) -> bool:
    return _alike(got, expected, _deep_strict) if _kind(expected) is object else _same(got, expected)


def _alike(got: Any, expected: Any, equal: Callable[[Any, Any], bool]) -> bool:
    """Return whether two arrays, or two objects, hold equal values."""
    if isinstance(got, list) and isinstance(expected, list):
        return len(got) == len(expected) and all(map(equal, got, expected))
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(equal(got[key], expected[key]) for key in expected)
    return False


def _as_json(got: Any, expected: Any) -> bool:
    """Compare what JSON.stringify has returned for the one with what it would return for the other."""
    return _strict(got, expected) if _kind(expected) is not object else _is_written(got, expected)


def _is_written(got: Any, literal: Any) -> bool:
    if isinstance(literal, list) and isinstance(got, list):
        items = [None if each in _NOTHING else each for each in literal]
        return len(got) == len(items) and all(map(_as_json, got, items))
    if isinstance(literal, dict) and isinstance(got, dict):
        kept = sorted(((key, value) for key, value in literal.items() if value != _Special("undefined")), key=_place)
        return list(got) == [key for key, _ in kept] and all(_as_json(got[key], value) for key, value in kept)
    return False


def _place(entry: tuple[str, Any]) -> tuple[bool, int]:
    """Return where JavaScript has an entry of an object: indexes come first, in order."""
    key = entry[0]
    is_index = key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and int(key) < 2**32 - 1
    return not is_index, int(key) if is_index else 0


EQUALITIES: dict[str, Callable[[Any, Any], bool | None]] = {
    "==": _loose,
    "===": _strict,
    "is": _same,
    "deep": _deep,
    "deep strict": _deep_strict,
    "json": _as_json,
}
"""The kinds of equality: of operators, of `Object.is`, of `assert.deepEqual`, of texts that JSON.stringify makes."""


def _kind(value: Any) -> object:
    """Return what `typeof` tells apart, and null."""
    if isinstance(value, _Special):
        return object if value.kind in ("instance", "other") else value.kind
    if isinstance(value, list | dict):
        return object
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _number(value: Any) -> float:
    """Return what `Number` makes of a value; NaN for most objects."""
    if isinstance(value, _Special):
        return int(value.own) if value.kind == "bigint" else math.nan
    if isinstance(value, str):
        return _number_of_text(value.strip())
    return float(value or 0) if isinstance(value, bool | int | float | None) else math.nan


def _number_of_text(text: str) -> float:
    try:
        return float(text) if text.isascii() and "_" not in text and "n" not in text.lower() else math.nan
    except ValueError:
        return math.nan if text else 0.0


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _sign(value: Any) -> float:
    return math.copysign(1, value) if isinstance(value, int | float) else 1.0


_UNREADABLE = object()


def _read(text: bytes) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=float)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _object(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    if found.keys() != {TAG, "own"} or not isinstance(found[TAG], str):
        return found
    return _special(found[TAG], found["own"])


def _special(kind: str, own: Any) -> _Special:
    """Return a tagged value. Raises ValueError for one that no driver writes, but a submission can."""
    if kind != "bigint":
        return _Special(kind, own)
    if not isinstance(own, str):
        raise ValueError("a bigint has digits")
    return _Special(kind, int(own))
