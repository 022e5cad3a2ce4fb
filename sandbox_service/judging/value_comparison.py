"""Compares plain values without calling their methods, in sorted or given order, with an explicit stack.

No depth of nesting causes a RecursionError, and no method of a value is called, not even `__eq__`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from sandbox_service.judging.value_groups import doubtful
from sandbox_service.judging.value_kinds import KINDS, LARGE_BITS, RANKS, SET_TAG, SETS, Unordered
from sandbox_service.judging.value_rules import Rules, same_number, text_key
from sandbox_service.judging.value_text import Path, difference, length_difference, location, shown

# Up to this number of elements, a pairing that sorting did not find is searched for.
MATCHED_ELEMENTS = 32
# Deeper than any expected answer, and shallow enough for the stack to stay small.
DEEPEST = 10_000
# Sorting ignores deeper levels; the comparison that follows does not.
SORTED_DEPTH = 64
# Most values examined to pair elements that sorting did not pair.
MATCHING_STEPS = 500_000
_TEXTS = frozenset((str,))
Pair = tuple[object, object, Path]


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


def first_unequal(rules: Rules, got: list[Any], expected: list[Any]) -> int | None:
    """Return the place of the first pair of scalars that differ, or None.

    Args:
        rules: the rules.
        got: the submission's scalars.
        expected: as many expected ones.
    """
    places = range(len(got))
    pairs = doubtful(rules, got, expected, places)
    return next((place for one, other, place in pairs if _compare(rules, one, other, None) is not None), None)


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
    same = same_number(rules, got, expected) if kind == "number" else text_key(rules, got) == text_key(rules, expected)
    return None if same else difference(got, expected)


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
        for one, other, key in doubtful(rules, list(map(left.__getitem__, right)), list(right.values()), list(right))
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
        pairs = doubtful(rules, left, right, range(len(left)))
        return ((one, other, (path, "[{}]", i)) for one, other, i in pairs)
    sorted_pairs = _paired_by_sorting(rules, got, expected, path)
    if rules.match and len(sorted_pairs) <= MATCHED_ELEMENTS and _some_pairing_fits(rules, sorted_pairs):
        return None
    return iter(sorted_pairs)


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
    return (RANKS[kind],) if kind in ("null", "deep", "foreign") else (RANKS[kind], text_key(rules, value))


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
