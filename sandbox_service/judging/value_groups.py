"""Finds the pairs of values that may differ: a few calls for many pairs, instead of several for each.

Values are compared level by level. Each level is one pair of lists, whatever the depth, so that the time is linear in
the number of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain, compress, repeat
from math import inf, isfinite, isnan
from operator import is_, ne, not_, or_
from typing import Any

from sandbox_service.judging.numeric import Tolerance, all_near_as_integers, all_near_exactly, all_surely_near
from sandbox_service.judging.value_rules import Rules, same_number

GROUP = 1024  # elements that are compared together: what they need fits into a processor's cache
EXACT = 2**53  # integers up to this one are floats, exactly
FLOAT_EXPONENT = 400  # no float has a decimal exponent as large as this one, or as small
_FLOATS = frozenset((float,))
_NUMBERS = frozenset((int, float, Decimal))
_SCALARS = _NUMBERS | {str, bool, type(None)}
_PARSED = _SCALARS | {list, dict}
_TEXTS = frozenset((str,))


def doubtful(rules: Rules, got: list[Any], expected: list[Any], steps: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the pairs that are not surely the same, and some that are, each with its step of the path.

    Args:
        rules: the rules.
        got: the submission's values.
        expected: as many expected ones.
        steps: as many steps.
    """
    for begin in range(0, len(got), GROUP):
        rest = [(begin, min(begin + GROUP, len(got)))]
        while rest:
            first, end = rest.pop()
            if end - first == 1:  # the caller looks into it
                yield got[first], expected[first], steps[first]
            elif not are_surely_same(rules, got[first:end], expected[first:end]):
                middle = (first + end) // 2
                rest += (middle, end), (first, middle)


def are_surely_same(rules: Rules, got: list[Any], expected: list[Any]) -> bool:
    """Return True if a few calls for each level show that all pairs are the same, or near.

    Args:
        rules: the rules.
        got: the submission's values.
        expected: as many expected ones.
    """
    rest = [(got, expected)]
    while rest:
        got, expected = rest.pop()
        kinds = {*map(type, got), *map(type, expected)}
        if kinds <= _SCALARS:
            if not _are_surely_same_scalars(rules, got, expected, kinds):
                return False
            continue
        inside = _one_level_down(got, expected, kinds) if kinds <= _PARSED else None
        if inside is None:
            return False
        rest += inside
    return True


def _one_level_down(got: list[Any], expected: list[Any], kinds: set[type]) -> list[tuple[list[Any], list[Any]]] | None:
    """Return what remains to be compared; None if a pair differs."""
    if len(kinds) > 1:
        return _by_kind(got, expected, kinds)
    values = _elements(got, expected) if list in kinds else _values(got, expected)
    return None if values is None else [values]


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
        map(same_number, repeat(rules), compress(got, others), compress(expected, others))
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
