"""Compares plain values without calling their methods, in sorted or given order, with an explicit stack.

No depth of nesting causes a RecursionError, and no method of a value is called, not even `__eq__`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, compress, repeat
from math import inf, isfinite, isnan
from operator import is_, ne, not_, or_
from typing import Any, cast

from sandbox_service.judging.numeric import Tolerance, all_near_as_integers, all_near_exactly, all_surely_near, within
from sandbox_service.judging.value_kinds import KINDS, LARGE_BITS, RANKS, SET_TAG, SETS, Unordered
from sandbox_service.judging.value_text import Path, difference, length_difference, location, shown

# Up to this number of elements, a pairing that sorting did not find is searched for.
MATCHED_ELEMENTS = 32
# Deeper than any expected answer, and shallow enough for the stack to stay small.
DEEPEST = 10_000
# Sorting ignores deeper levels; the comparison that follows does not.
SORTED_DEPTH = 64
# Most values examined to pair elements that sorting did not pair.
MATCHING_STEPS = 500_000
# Elements are compared in groups of this many: a few calls for a group instead of several for each element.
GROUP = 1024
# Levels of lists and dicts inside a group that are compared in the same way.
GROUPED_DEPTH = 16
# Integers up to this one are floats, exactly.
EXACT = 2**53
# No float has a decimal exponent as large as this one, or as small.
FLOAT_EXPONENT = 400
_FLOATS = frozenset((float,))
_NUMBERS = frozenset((int, float, Decimal))
_SCALARS = _NUMBERS | {str, bool, type(None)}
_PARSED = _SCALARS | {list, dict}
_TEXTS = frozenset((str,))
Pair = tuple[object, object, Path]


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of a comparison. `match`: pair elements in any order by trying, where sorting is not enough."""

    tolerance: Tolerance | None
    ignore_case: bool
    any_order: bool
    match: bool = True


def first_difference(rules: Rules, pairs: Iterator[Pair]) -> str | None:
    """Compare all pairs, depth first.

    The stack holds iterators, so that wide values cost no memory.

    Args:
        rules: the rules.
        pairs: pairs of values, with the path to each.

    Returns:
        The first difference and its place, or None.
    """
    stack = [pairs]
    while stack:
        pair = next(stack[-1], None)
        if pair is None:
            stack.pop()
            continue
        found = _compare(rules, *pair)
        if isinstance(found, str):
            return location(pair[2]) + found
        if found is not None:
            stack.append(found)
        if len(stack) > DEEPEST:
            return f"nested deeper than {DEEPEST} levels"
    return None


def _compare(rules: Rules, got: Any, expected: Any, path: Path) -> str | Iterator[Pair] | None:
    """Return a difference, the pairs to compare next, or None if the two are equal."""
    if type(got) is Unordered and type(expected) is dict:
        got = {SET_TAG: list(got)}  # the submission returned a dict that looks like a tag
    kind = KINDS.get(type(got))
    if kind is None or kind != KINDS.get(type(expected)):
        return difference(got, expected)
    if kind == "list":
        return _compare_lists(rules, got, expected, path)
    if kind == "dict":
        return _compare_dicts(rules, got, expected, path)
    same = _same_number(rules, got, expected) if kind == "number" else _text(rules, got) == _text(rules, expected)
    return None if same else difference(got, expected)


def _text(rules: Rules, value: object) -> object:
    # `casefold` also takes other letters for the same: "Maße" for "Masse"
    return value.lower() if rules.ignore_case and isinstance(value, str) else value


def _same_number(rules: Rules, got: int | float | Decimal, expected: int | float | Decimal) -> bool:
    # Python compares int, float and Decimal by their exact values.
    if got == expected:
        return True
    if rules.tolerance is None or (type(got) is not float and type(expected) is not float):
        return False
    left, right = _decimal(got), _decimal(expected)
    return left is not None and right is not None and within(left, right, rules.tolerance)


def _decimal(number: int | float | Decimal) -> Decimal | None:
    """Return a finite float as it is written (0.1 is a tenth), not as it is stored."""
    if isinstance(number, float):
        return Decimal(repr(number)) if isfinite(number) else None
    if isinstance(number, int):
        return Decimal(number) if number.bit_length() <= LARGE_BITS else None
    return number


def _compare_dicts(
    rules: Rules, got: dict[object, object], expected: dict[object, object], path: Path
) -> str | Iterator[Pair]:
    left, right = _by_json_key(got), _by_json_key(expected)
    if left is None or right is None:
        return f"got {shown(got)} with a key that JSON cannot have, or the same one twice"
    missing = next((key for key in right if key not in left), None)
    if missing is not None:
        return f"the key {shown(missing)} is missing"
    surplus = next((key for key in left if key not in right), None)
    if surplus is not None:
        return f"the key {shown(surplus)} is not expected"
    return (
        (one, other, (path, ".{}" if key.isidentifier() else "[{!r}]", key))
        for one, other, key in _doubtful(rules, list(map(left.__getitem__, right)), list(right.values()), list(right))
    )


def _by_json_key(value: dict[object, object]) -> dict[str, object] | None:
    """Return the dict with its keys as `json.dumps` would write them, or None if that is impossible."""
    if _TEXTS.issuperset(map(type, value)):
        return cast(dict[str, object], value)
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
    rules: Rules, got: Collection[object], expected: Collection[object], path: Path
) -> str | Iterator[Pair] | None:
    unordered = type(got) in SETS or type(expected) in SETS or (rules.any_order and path is None)
    if (type(got) in SETS) != (type(expected) in SETS) and not rules.any_order:
        return f"{difference(got, expected)}: a set has no order (the checker unordered_lines ignores it)"
    if len(got) != len(expected):
        return length_difference(got, expected)
    if not unordered:
        left, right = (values if type(values) is list else list(values) for values in (got, expected))
        doubtful = _doubtful(rules, left, right, range(len(left)))
        return ((one, other, (path, "[{}]", i)) for one, other, i in doubtful)
    pairs = _paired_by_sorting(rules, got, expected, path)
    if rules.match and len(pairs) <= MATCHED_ELEMENTS and _some_pairing_fits(rules, pairs):
        return None
    return iter(pairs)


def _doubtful(rules: Rules, got: list[Any], expected: list[Any], steps: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the pairs that are in a group with a pair that is not surely the same, each with its step of the path."""
    for begin in range(0, len(got), GROUP):
        group = slice(begin, begin + GROUP)
        if not _are_surely_same(rules, got[group], expected[group]):
            yield from zip(got[group], expected[group], steps[group], strict=True)


def _are_surely_same(rules: Rules, got: list[Any], expected: list[Any], depth: int = 0) -> bool:
    """Return True if it takes a few calls to see that all pairs are the same, or near."""
    kinds = {*map(type, got), *map(type, expected)}
    if kinds <= _SCALARS:
        return _are_surely_same_scalars(rules, got, expected, kinds)
    if depth == GROUPED_DEPTH or not kinds <= _PARSED:
        return False
    if len(kinds) > 1:
        parts = _by_kind(got, expected, kinds)
        return parts is not None and all(_are_surely_same(rules, *part, depth) for part in parts)
    values = _elements(got, expected) if list in kinds else _values(got, expected)
    return values is not None and _are_surely_same(rules, *values, depth + 1)


def _by_kind(got: list[Any], expected: list[Any], kinds: set[type]) -> list[tuple[list[Any], list[Any]]] | None:
    """Return the pairs of lists, those of dicts and all others; None if a pair is of two kinds."""
    parts = []
    for kind in kinds & {list, dict}:
        are_of_kind, others = (list(map(is_, map(type, values), repeat(kind))) for values in (got, expected))
        if are_of_kind != others:
            return None
        parts.append((list(compress(got, are_of_kind)), list(compress(expected, are_of_kind))))
        rest = list(map(not_, are_of_kind))
        got, expected = list(compress(got, rest)), list(compress(expected, rest))
    return [*parts, (got, expected)]


def _elements(got: list[list[Any]], expected: list[list[Any]]) -> tuple[list[Any], list[Any]] | None:
    """Return the elements of all lists, or None if a list is longer than the expected one, or shorter."""
    if list(map(len, got)) != list(map(len, expected)):
        return None
    return list(chain.from_iterable(got)), list(chain.from_iterable(expected))


def _values(got: list[dict[Any, Any]], expected: list[dict[Any, Any]]) -> tuple[list[Any], list[Any]] | None:
    """Return the values of all dicts, key by key; None if keys differ, or are no texts."""
    keys = list(chain.from_iterable(expected))
    if not _TEXTS.issuperset(map(type, chain(keys, chain.from_iterable(got)))):
        return None
    right = list(chain.from_iterable(map(dict.values, expected)))
    if keys == list(chain.from_iterable(got)) and list(map(len, got)) == list(map(len, expected)):
        return list(chain.from_iterable(map(dict.values, got))), right
    if any(map(ne, map(dict.keys, got), map(dict.keys, expected))):
        return None
    return [one[key] for one, other in zip(got, expected, strict=True) for key in other], right


def _are_surely_same_scalars(rules: Rules, got: list[Any], expected: list[Any], kinds: set[type]) -> bool:
    if bool in kinds and _bools(got) != _bools(expected):
        return False
    if got == expected and not _may_have_nan(got, kinds):  # NaN may be the same object on both sides
        return True
    if kinds <= _NUMBERS and _have_floats(got, expected, kinds):
        return rules.tolerance is not None and _are_numbers_near(rules, rules.tolerance, got, expected, kinds)
    differ = list(map(ne, got, expected))
    return _are_near(rules, list(compress(got, differ)), list(compress(expected, differ)))


def _are_near(rules: Rules, got: list[Any], expected: list[Any]) -> bool:
    """Return True if all of some scalars are texts that differ in case only, or numbers within the tolerance."""
    is_text = list(map(is_, map(type, got), repeat(str)))
    if any(is_text):
        texts, wanted = list(compress(got, is_text)), list(compress(expected, is_text))
        if not (rules.ignore_case and _TEXTS.issuperset(map(type, wanted))):
            return False
        if list(map(str.lower, texts)) != list(map(str.lower, wanted)):
            return False
        is_number = list(map(not_, is_text))
        got, expected = list(compress(got, is_number)), list(compress(expected, is_number))
    kinds = {*map(type, got), *map(type, expected)}
    return not kinds or (
        rules.tolerance is not None
        and kinds <= _NUMBERS
        and _have_floats(got, expected, kinds)
        and _are_numbers_near(rules, rules.tolerance, got, expected, kinds)
    )


def _have_floats(got: list[Any], expected: list[Any], kinds: set[type]) -> bool:
    """Return True if each pair has a float: two integers are never near."""
    left, right = (map(is_, map(type, values), repeat(float)) for values in (got, expected))
    return kinds == _FLOATS or all(map(or_, left, right))


def _are_numbers_near(
    rules: Rules, tolerance: Tolerance, got: list[Any], expected: list[Any], kinds: set[type]
) -> bool:
    lefts, rights = _as_floats(got, kinds), _as_floats(expected, kinds)
    if lefts is not None and rights is not None:
        if all_surely_near(lefts, rights, tolerance):
            return True
        if kinds == _FLOATS or (Decimal not in kinds and _are_exact(got) and _are_exact(expected)):
            return _are_floats_near(tolerance, lefts, rights)
    is_float = [_is_float(one) and _is_float(other) for one, other in zip(got, expected, strict=True)]
    lefts, rights = (list(map(float, compress(values, is_float))) for values in (got, expected))
    others = list(map(not_, is_float))
    return (all_surely_near(lefts, rights, tolerance) or _are_floats_near(tolerance, lefts, rights)) and all(
        map(_same_number, repeat(rules), compress(got, others), compress(expected, others))
    )


def _as_floats(values: list[Any], kinds: set[type]) -> list[float] | None:
    """Return the nearest floats; None if an integer is beyond every float."""
    if kinds == _FLOATS:
        return values
    try:
        return list(map(_nearest_float if Decimal in kinds else float, values))
    except OverflowError:
        return None


def _nearest_float(number: int | float | Decimal) -> float:
    if type(number) is Decimal and not -FLOAT_EXPONENT < number.adjusted() < FLOAT_EXPONENT:
        return 0.0 if number.adjusted() < 0 else inf if number > 0 else -inf
    return float(number)


def _are_exact(values: list[Any]) -> bool:
    """Return True if integers among these numbers are floats, exactly."""
    return bool(min(values) >= -EXACT and max(values) <= EXACT)


def _is_float(number: int | float | Decimal) -> bool:
    """Return True for a number that stays the same, or as near to others, as a float."""
    if type(number) is int:
        return -EXACT <= number <= EXACT
    return type(number) is float


def _are_floats_near(tolerance: Tolerance, got: list[float], expected: list[float]) -> bool:
    """Return True if floats that are not surely near are all finite, and within the tolerance."""
    if not all(map(isfinite, chain(got, expected))):
        return False
    return all_near_as_integers(got, expected, tolerance) or all_near_exactly(got, expected, tolerance)


def _may_have_nan(values: list[Any], kinds: set[type]) -> bool:
    if kinds == _FLOATS:
        return isnan(sum(values))  # or infinities of both signs
    return float in kinds and any(map(ne, values, values))


def _bools(values: list[Any]) -> list[bool]:
    """Return for each value whether it is True or False, which Python takes for 1 and 0."""
    return list(map(is_, map(type, values), repeat(bool)))


def _paired_by_sorting(rules: Rules, got: Collection[object], expected: Collection[object], path: Path) -> list[Pair]:
    """Pair the elements after sorting. If there are sets among them, lists inside are sorted too."""
    sets_within = any(type(value) in SETS for values in (got, expected) for value in values)

    def ordered(values: Iterable[object]) -> list[object]:
        return sorted(values, key=lambda value: _sort_key(rules, value, sets_within))

    pairs = zip(ordered(got), ordered(expected), strict=True)
    return [(left, right, (path, "[sorted {}]", i)) for i, (left, right) in enumerate(pairs)]


def _sort_key(rules: Rules, value: Any, sort_within: bool, depth: int = 0) -> tuple[Any, ...]:
    """Return a key that is equal for equal values of any type. (NaN may sort anywhere: nothing equals it.)"""
    kind = "deep" if depth > SORTED_DEPTH else KINDS.get(type(value), "foreign")
    if kind == "list":
        keys = [_sort_key(rules, item, sort_within, depth + 1) for item in value]
        if sort_within or type(value) in SETS:
            keys.sort()
        return RANKS[kind], len(keys), keys
    if kind == "dict":
        named = _by_json_key(value) or {}
        return RANKS[kind], sorted((key, _sort_key(rules, named[key], sort_within, depth + 1)) for key in named)
    return (RANKS[kind],) if kind in ("null", "deep", "foreign") else (RANKS[kind], _text(rules, value))


def _some_pairing_fits(rules: Rules, pairs: list[Pair]) -> bool:
    """Return True if the elements can be paired so that all pairs are equal.

    Sorting decides that wherever equality is transitive. With a tolerance, or with sets inside, it can pair the wrong
    elements. Inside the elements only sorting is used.
    """
    rules = replace(rules, match=False)
    if first_difference(rules, iter(pairs)) is None:
        return True
    if len(pairs) * _size([expected for _, expected, _ in pairs]) > MATCHING_STEPS:
        return False

    def equal(got: object, expected: object, path: Path) -> bool:
        return first_difference(rules, iter([(got, expected, path)])) is None

    fits = [[equal(got, want[1], path) for want in pairs] for got, _, path in pairs]
    owners: dict[int, int] = {}
    return all(_find_partner(fits, row, owners, set()) for row in range(len(pairs)))


def _size(value: object) -> int:
    """Return the number of values inside this one, counted up to a little more than MATCHING_STEPS."""
    count, rest = 0, [value]
    while rest and count <= MATCHING_STEPS:
        each: Any = rest.pop()
        count += 1
        rest.extend(each.values() if type(each) is dict else each if KINDS.get(type(each)) == "list" else ())
    return count


def _find_partner(fits: list[list[bool]], row: int, owners: dict[int, int], tried: set[int]) -> bool:
    """Do one step of bipartite matching: find a partner for `row`, moving earlier rows to others if necessary."""
    for column, fit in enumerate(fits[row]):
        if not fit or column in tried:
            continue
        tried.add(column)
        if column not in owners or _find_partner(fits, owners[column], owners, tried):
            owners[column] = row
            return True
    return False
