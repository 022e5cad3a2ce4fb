"""Is this value the expected one? For what a call returned, and for parsed JSON.

`got` comes from a box by way of a plain encoding, so it holds plain values only; a value of any other type is wrong,
and no method of it is called, not even `__eq__`. Nesting is walked with a stack of our own, so that no
depth ends in a RecursionError. Text output is compared in `checkers`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import Any, cast

from sandbox_service.judging.numeric import Tolerance, tolerance_of, within
from sandbox_service.schema import Checker

SHOWN_CHARACTERS = 40
SHOWN_STEPS = 8
# Integers beyond any float: never within a tolerance of one, and slow (or refused) to write in decimal.
LARGE_BITS = 2000
# Up to here, elements in any order that do not pair up when sorted are tried every one with every other.
MATCHED_ELEMENTS = 32
# Deeper than anything that could be written as an answer, and shallow enough for the stack to stay small.
DEEPEST = 10_000
# Sorting looks no deeper than this; the comparison that follows looks at everything.
SORTED_DEPTH = 64

_SETS = (set, frozenset)
_KINDS: dict[type, str] = {
    type(None): "null", bool: "bool", int: "number", float: "number", Decimal: "number", str: "text",
    list: "list", tuple: "list", set: "list", frozenset: "list", dict: "dict",
}  # fmt: skip
_RANKS = {"null": 0, "bool": 1, "number": 2, "text": 3, "list": 4, "dict": 5, "deep": 6, "foreign": 7}

# How one came to a value: the path of its parent, how to write the last step, and the step.
Path = tuple["Path", str, object] | None
Pair = tuple[object, object, Path]


@dataclass(frozen=True, slots=True)
class _Rules:
    tolerance: Tolerance | None
    ignore_case: bool
    any_order: bool
    match: bool = True


def check_value(checker: Checker, got: object, expected: object) -> str | None:
    """None if `got` is right, else a reason with the path to the first difference: "at [3].x: got 4, expected 5".

    A tuple equals a list, as JSON has none; 1 equals 1.0, but not True; NaN equals nothing. Of the checker, the
    tolerances and `ignore_case` count. With `unordered_lines` the outermost list may be in any order, and a set equals
    a list; else it does not, or whoever returns a set need not sort.
    """
    rules = _Rules(tolerance_of(checker), checker.ignore_case, any_order=checker.type == "unordered_lines")
    return _first_difference(rules, iter([(got, expected, None)]))


def _first_difference(rules: _Rules, pairs: Iterator[Pair]) -> str | None:
    """Walk all pairs depth first. The stack holds iterators, so that wide values cost no memory."""
    stack = [pairs]
    while stack:
        pair = next(stack[-1], None)
        if pair is None:
            stack.pop()
            continue
        found = _compare(rules, *pair)
        if isinstance(found, str):
            return _where(pair[2]) + found
        if found is not None:
            stack.append(found)
        if len(stack) > DEEPEST:
            return f"nested deeper than {DEEPEST} levels"
    return None


def _compare(rules: _Rules, got: Any, expected: Any, path: Path) -> str | Iterator[Pair] | None:
    """A difference, or the pairs that are to be compared next, or None: the two are equal."""
    kind = _KINDS.get(type(got))
    if kind is None or kind != _KINDS.get(type(expected)):
        return _differ(got, expected)
    if kind == "list":
        return _compare_lists(rules, got, expected, path)
    if kind == "dict":
        return _compare_dicts(got, expected, path)
    same = _same_number(rules, got, expected) if kind == "number" else _text(rules, got) == _text(rules, expected)
    return None if same else _differ(got, expected)


def _text(rules: _Rules, value: object) -> object:
    return value.casefold() if rules.ignore_case and isinstance(value, str) else value


def _same_number(rules: _Rules, got: int | float | Decimal, expected: int | float | Decimal) -> bool:
    # Python compares int, float and Decimal by their exact values.
    if got == expected:
        return True
    if rules.tolerance is None or (type(got) is not float and type(expected) is not float):
        return False
    left, right = _decimal(got), _decimal(expected)
    return left is not None and right is not None and within(left, right, rules.tolerance)


def _decimal(number: int | float | Decimal) -> Decimal | None:
    """A finite float as it is written (0.1 is a tenth), not as it is stored."""
    if isinstance(number, float):
        return Decimal(repr(number)) if isfinite(number) else None
    if isinstance(number, int):
        return Decimal(number) if number.bit_length() <= LARGE_BITS else None
    return number


def _compare_dicts(got: dict[object, object], expected: dict[object, object], path: Path) -> str | Iterator[Pair]:
    left, right = _by_json_key(got), _by_json_key(expected)
    if left is None or right is None:
        return f"got {_shown(got)} with a key that JSON cannot have, or the same one twice"
    missing = next((key for key in right if key not in left), None)
    if missing is not None:
        return f"the key {_shown(missing)} is missing"
    surplus = next((key for key in left if key not in right), None)
    if surplus is not None:
        return f"the key {_shown(surplus)} is not expected"
    return ((left[key], value, (path, ".{}" if key.isidentifier() else "[{!r}]", key)) for key, value in right.items())


def _by_json_key(value: dict[object, object]) -> dict[str, object] | None:
    """The same dict with its keys as `json.dumps` would write them, or None where that cannot be."""
    named: dict[str, object] = {}
    for key, item in value.items():
        name = _json_key(key)
        if name is None or name in named:
            return None
        named[name] = item
    return named


def _json_key(key: Any) -> str | None:
    kind = type(key)
    if kind is str:
        return cast(str, key)
    if key is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[key]
    if kind is float:
        return repr(key).replace("inf", "Infinity").replace("nan", "NaN")
    return str(key) if kind is int and key.bit_length() <= LARGE_BITS else None


def _compare_lists(
    rules: _Rules, got: Collection[object], expected: Collection[object], path: Path
) -> str | Iterator[Pair] | None:
    unordered = type(got) in _SETS or type(expected) in _SETS or (rules.any_order and path is None)
    if (type(got) in _SETS) != (type(expected) in _SETS) and not rules.any_order:
        return f"{_differ(got, expected)}: a set has no order (the checker unordered_lines ignores it)"
    if len(got) != len(expected):
        return _differ_in_length(got, expected)
    if not unordered:
        return ((left, right, (path, "[{}]", i)) for i, (left, right) in enumerate(zip(got, expected, strict=True)))
    pairs = _paired_by_sorting(rules, got, expected, path)
    if rules.match and len(pairs) <= MATCHED_ELEMENTS and _some_pairing_fits(rules, pairs):
        return None
    return iter(pairs)


def _differ_in_length(got: Collection[object], expected: Collection[object]) -> str:
    return f"got {len(got)} elements, expected {len(expected)}"


def _paired_by_sorting(rules: _Rules, got: Collection[object], expected: Collection[object], path: Path) -> list[Pair]:
    """Equal elements side by side. Where there are sets among them, lists are sorted within, too."""
    sets_within = any(type(value) in _SETS for values in (got, expected) for value in values)

    def ordered(values: Iterable[object]) -> list[object]:
        return sorted(values, key=lambda value: _sort_key(rules, value, sets_within))

    pairs = zip(ordered(got), ordered(expected), strict=True)
    return [(left, right, (path, "[sorted {}]", i)) for i, (left, right) in enumerate(pairs)]


def _sort_key(rules: _Rules, value: Any, sort_within: bool, depth: int = 0) -> tuple[Any, ...]:
    """Something that sorts alike for equal values, whatever their types. (NaN may sort anywhere: it has no equal.)"""
    kind = "deep" if depth > SORTED_DEPTH else _KINDS.get(type(value), "foreign")
    if kind == "list":
        keys = [_sort_key(rules, item, sort_within, depth + 1) for item in value]
        if sort_within or type(value) in _SETS:
            keys.sort()
        return _RANKS[kind], len(keys), keys
    if kind == "dict":
        named = _by_json_key(value) or {}
        return _RANKS[kind], sorted((key, _sort_key(rules, named[key], sort_within, depth + 1)) for key in named)
    return (_RANKS[kind],) if kind in ("null", "deep", "foreign") else (_RANKS[kind], _text(rules, value))


def _some_pairing_fits(rules: _Rules, pairs: list[Pair]) -> bool:
    """Whether the elements can be paired up so that all pairs are equal.

    Sorting decides that wherever equality is transitive. With a tolerance, or with sets inside, it can put side by
    side what does not belong together. Inside the elements only sorting is used: this is not done twice over.
    """
    rules = replace(rules, match=False)
    if _first_difference(rules, iter(pairs)) is None:
        return True

    def equal(got: object, expected: object, path: Path) -> bool:
        return _first_difference(rules, iter([(got, expected, path)])) is None

    fits = [[equal(got, want[1], path) for want in pairs] for got, _, path in pairs]
    owners: dict[int, int] = {}
    return all(_find_partner(fits, row, owners, set()) for row in range(len(pairs)))


def _find_partner(fits: list[list[bool]], row: int, owners: dict[int, int], tried: set[int]) -> bool:
    """One step of bipartite matching: give `row` a partner, moving earlier rows to others where need be."""
    for column, fit in enumerate(fits[row]):
        if not fit or column in tried:
            continue
        tried.add(column)
        if column not in owners or _find_partner(fits, owners[column], owners, tried):
            owners[column] = row
            return True
    return False


def _differ(got: object, expected: object) -> str:
    return f"got {_shown(got)}, expected {_shown(expected)}"


def _shown(value: Any) -> str:
    kind = _KINDS.get(type(value))
    if kind is None:
        return f"a value of type {type(value).__name__!r}"
    if kind in ("list", "dict"):
        return f"a {type(value).__name__} of {len(value)}"
    if type(value) is int and value.bit_length() > LARGE_BITS:
        return f"an integer of {value.bit_length()} bits"
    if kind == "text":
        return repr(value) if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]!r}…"
    text = str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _where(path: Path) -> str:
    """The last steps of the path, or nothing at the top."""
    steps: list[str] = []
    while path is not None and len(steps) < SHOWN_STEPS:
        parent, form, step = path
        steps.append(form.format(step if isinstance(step, int) else str(step)[:SHOWN_CHARACTERS]))
        path = parent
    if not steps:
        return ""
    return f"at {'' if path is None else '…'}{''.join(reversed(steps))}: "
