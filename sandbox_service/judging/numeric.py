"""Compares numbers given as text: integers digit by digit, all others as exact decimals.

Most graders convert to float and so accept 10**18 for 10**18 + 1. Nothing is rounded here before it is compared, and
nothing calls `int()` on text, whose time is quadratic in its length (and which refuses more than 4300 digits). This
module knows nothing of lines or files, and does not decide which text is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from itertools import chain, compress, repeat
from math import inf, isfinite
from operator import not_, sub

from pydantic_core import from_json, to_json

from sandbox_service.schema import Checker

# Possessive repeats: a long token that is not quite a number is refused without backtracking.
NUMBER_SYNTAX = rb"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_NUMBER = re.compile(NUMBER_SYNTAX)
_NUMBERS = re.compile(rb"(?:" + NUMBER_SYNTAX + rb"(?: |\Z))*+")
_LONG_EXPONENT = re.compile(rb"[eE][+-]?\d{3}")
_INTEGER = re.compile(rb"[+-]?\d+")
# Bounds on the error of conversion to float: relative, near zero, and for the tolerances.
ROUNDED, LEAST, CERTAIN = 4e-16, 1e-300, 1 - 1e-9
# Decimals with up to this many places are compared as integers where their floats leave it open.
PLACES = 9
# Two different decimals of fewer digits have two different floats.
_DIGITS = 10**15
# Added to a smaller float and taken away again, it leaves the nearest integer.
_ROUNDING = 1.5 * 2**52
# A longer decimal number is right only if it equals the expected text.
LONGEST_DECIMAL = 1 << 20
LONG_TOKEN = 1 << 10
# A float holds as many digits, in numbers without exponents.
SHORT_TOKEN = 15
_NAN = re.compile(rb"[+-]?nan", re.IGNORECASE)

# Only differences and products are rounded, to far more digits than any tolerance has. No traps: text whose exponent
# is out of bounds becomes NaN, which `parse` refuses.
_ARITHMETIC = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Accepted deviation from the expected number; being within either bound suffices.

    With `integers_too` it is for two integers as well.
    """

    absolute: Decimal
    relative: Decimal
    integers_too: bool = False


def tolerance_of(checker: Checker) -> Tolerance | None:
    """Return the checker's tolerance, or None. An explicit bound takes precedence over `float_tolerance`.

    Args:
        checker: the checker.
    """
    absolute = _first_given(checker.absolute_tolerance, checker.float_tolerance)
    relative = _first_given(checker.relative_tolerance, checker.float_tolerance)
    if absolute is None and relative is None:
        return None
    return Tolerance(Decimal(repr(absolute or 0.0)), Decimal(repr(relative or 0.0)), checker.integers_too)


def _first_given(*bounds: float | None) -> float | None:
    return next((bound for bound in bounds if bound is not None), None)


def is_number(token: bytes) -> bool:
    """Return True for plain decimal notation: no nan, inf, hexadecimal, underscores or digits of other scripts.

    Args:
        token: the text.
    """
    return _NUMBER.fullmatch(token) is not None


def is_integer(token: bytes) -> bool:
    """Return True for a number written as an integer; 1.0 is not one.

    Args:
        token: the text.
    """
    return _INTEGER.fullmatch(token) is not None


def is_nan(token: bytes) -> bool:
    """Return True for "nan" in any case.

    Args:
        token: the text.
    """
    return _NAN.fullmatch(token) is not None


def same_number(got: bytes, expected: bytes, tolerance: Tolerance | None) -> bool:
    """Return True if two numbers are equal, or within the tolerance.

    A tolerance allows for rounding, which does not affect integers: two integers are equal or they are not, unless it
    is for integers too.

    Args:
        got: the program's number.
        expected: the expected number.
        tolerance: accepted deviation, or None.
    """
    if max(len(got), len(expected)) <= LONG_TOKEN:
        return _same_short_numbers([got], [expected], tolerance)
    if is_integer(got) and is_integer(expected) and not (tolerance and tolerance.integers_too):
        return _integer_value(got) == _integer_value(expected)
    if max(len(got), len(expected)) > LONGEST_DECIMAL:
        return False
    left, right = parse(got), parse(expected)
    if left is None or right is None:
        return False
    return left == right or (tolerance is not None and within(left, right, tolerance))


def same_numbers(got: Sequence[bytes], expected: Sequence[bytes], tolerance: Tolerance | None) -> bool:
    """Return True if both sequences are numbers, as many of them, and `same_number` holds for each pair.

    Many times as fast as one call for each pair: floats decide what they can, and exact decimals the rest.

    Args:
        got: the program's tokens.
        expected: the expected tokens.
        tolerance: accepted deviation, or None.
    """
    if len(got) != len(expected):
        return False
    lefts, rights = _short_floats(got), _short_floats(expected)
    if lefts is not None and rights is not None:
        return _same_floats(got, expected, lefts, rights, tolerance)
    if not (are_numbers(got) and are_numbers(expected)):
        return False
    if max(map(len, chain(got, expected)), default=0) > LONG_TOKEN:
        is_long = [max(len(one), len(other)) > LONG_TOKEN for one, other in zip(got, expected, strict=True)]
        if not all(map(same_number, compress(got, is_long), compress(expected, is_long), repeat(tolerance))):
            return False
        is_short = list(map(not_, is_long))
        got, expected = list(compress(got, is_short)), list(compress(expected, is_short))
    return _same_short_numbers(got, expected, tolerance)


def _short_floats(texts: Sequence[bytes]) -> list[float] | None:
    """Return numbers of at most SHORT_TOKEN characters as floats; None if a text is longer, or is not a number.

    Of the characters of decimal notation, float takes the texts of NUMBER_SYNTAX and no others.
    """
    if max(map(len, texts), default=0) > SHORT_TOKEN or b"".join(texts).translate(None, b"0123456789.eE+-"):
        return None
    return floats_of(texts)


# Numbers of at most LEAST_TOKEN characters, as floats: some ten thousand, which a large text repeats.
LEAST_TOKEN = 4
JSON_TOKEN = 40  # a longer integer is read slowly by a parser of JSON
_known: dict[bytes, float] = {}


def floats_of(texts: Sequence[bytes]) -> list[float] | None:
    """Return texts without other characters than those of numbers and white space as floats; None if one is no number.

    Args:
        texts: the texts.
    """
    try:
        return list(map(_known.__getitem__, texts))
    except KeyError:
        pass
    longest = max(map(len, texts), default=0)
    values = _floats_by_json(texts) if longest <= JSON_TOKEN else None
    if values is None:
        try:
            values = list(map(float, texts))
        except ValueError:
            return None
    if longest <= LEAST_TOKEN:
        _known.update(zip(texts, values, strict=True))
    return values


def _floats_by_json(texts: Sequence[bytes]) -> list[float] | None:
    """Return texts as floats, in a fifth of the time; None if one is not a number of JSON, as 5., .5, +5 and 05."""
    try:
        values: list[float] = from_json(b"[" + b",".join(texts) + b"]")
    except ValueError:
        return None
    if len(values) != len(texts):  # one text, and no number in it
        return None
    return values if set(map(type, values)) == {float} else list(map(float, values))


def _same_floats(
    got: Sequence[bytes],
    expected: Sequence[bytes],
    lefts: Sequence[float],
    rights: Sequence[float],
    tolerance: Tolerance | None,
) -> bool:
    """Compare like `same_numbers`, for numbers of at most SHORT_TOKEN characters and their floats."""
    have_points = tolerance is not None and _have_points(got, expected)
    if tolerance is not None and have_points and all_surely_near(lefts, rights, tolerance):
        return True
    # so few digits are no more than a float holds; a number with a long exponent may be beyond every float
    is_huge = any(map(_has_long_exponent, (got, expected)))
    if lefts == rights and not is_huge:
        return True
    if tolerance is None or is_huge or not have_points:
        return _same_short_numbers(got, expected, tolerance)
    return all_near_as_integers(lefts, rights, tolerance) or _same_short_numbers(got, expected, tolerance)


def _has_long_exponent(texts: Sequence[bytes]) -> bool:
    text = b" ".join(texts)
    return (b"e" in text or b"E" in text) and _LONG_EXPONENT.search(text) is not None


def are_numbers(texts: Sequence[bytes]) -> bool:
    """Return True if each text is a number, without white space.

    Args:
        texts: the texts.
    """
    return _NUMBERS.fullmatch(b" ".join(texts)) is not None and b"" not in texts


def _same_short_numbers(got: Sequence[bytes], expected: Sequence[bytes], tolerance: Tolerance | None) -> bool:
    """Compare like `same_numbers`, for numbers of at most LONG_TOKEN characters."""
    # without a point in any number none is surely near
    if tolerance is not None and b"." in b" ".join(chain(got, expected)):
        floats, others = (floats_of(got), floats_of(expected)) if _have_points(got, expected) else (None, None)
        if floats is not None and others is not None:
            if all_surely_near(floats, others, tolerance):
                return True
            if max(map(abs, map(sub, floats, others))) * CERTAIN <= float(tolerance.absolute):  # some are at the edge
                return _all_within_absolute(_exact(got), _exact(expected), tolerance) or _each_is_near(
                    got, expected, tolerance
                )
        unsure = list(map(not_, _surely_near(got, expected, tolerance)))
        got, expected = list(compress(got, unsure)), list(compress(expected, unsure))
    return _each_is_near(got, expected, tolerance)


def _each_is_near(got: Sequence[bytes], expected: Sequence[bytes], tolerance: Tolerance | None) -> bool:
    """Compare like `same_numbers`, by exact values only."""
    lefts, rights = _exact(got), _exact(expected)
    if lefts == rights:
        return True
    return tolerance is not None and all(
        left == right
        or (
            (tolerance.integers_too or not (is_integer(one) and is_integer(other)))
            and left.is_finite()
            and right.is_finite()
            and within(left, right, tolerance)
        )
        for one, other, left, right in zip(got, expected, lefts, rights, strict=True)
    )


def _all_within_absolute(lefts: Sequence[Decimal], rights: Sequence[Decimal], tolerance: Tolerance) -> bool:
    if not all(map(Decimal.is_finite, chain(lefts, rights))):
        return False
    distances = map(Decimal.copy_abs, map(_ARITHMETIC.subtract, lefts, rights))
    is_within: bool = max(distances, default=Decimal(0)) <= tolerance.absolute
    return is_within


def _exact(numbers: Sequence[bytes]) -> list[Decimal]:
    """Return the exact values; NaN, which equals nothing, where the exponent is too large to compare."""
    return list(map(Decimal, b" ".join(numbers).decode("ascii").split(), repeat(_ARITHMETIC)))


def _have_points(got: Sequence[bytes], expected: Sequence[bytes]) -> bool:
    """Return True if no pair consists of two integers, which are never near. A number has one point at most."""
    return any(b" ".join(texts).count(b".") == len(texts) for texts in (expected, got))


def all_surely_near(lefts: Sequence[float], rights: Sequence[float], tolerance: Tolerance) -> bool:
    """Return True if the greatest distance and the greatest number show that all are within the absolute tolerance.

    Args:
        lefts: numbers, each of which stands for the decimal that it is the nearest float to.
        rights: the expected numbers, as many.
        tolerance: accepted deviation.
    """
    if not lefts:
        return True
    distances = list(map(abs, map(sub, lefts, rights)))
    farthest: float = max(distances)
    most = CERTAIN * float(tolerance.absolute)
    if not farthest <= most < inf or not sum(distances) < inf:  # NaN is in no order, and in the sum
        return False
    greatest: float = max(max(rights), -min(rights)) + farthest
    return farthest + ROUNDED * 2 * greatest + LEAST <= most


def all_near_as_integers(lefts: Sequence[float], rights: Sequence[float], tolerance: Tolerance) -> bool:
    """Return True if all are decimals of few digits and within the tolerance, exactly at its edge included.

    A decimal of at most 15 digits is the only one with its float. So a float that is the quotient of a short integer
    and 10**PLACES stands for exactly this quotient, and the distance of two is that of the integers.

    Args:
        lefts: numbers, each of which stands for the shortest decimal that it is the nearest float to.
        rights: the expected numbers, as many.
        tolerance: accepted deviation.
    """
    wholes, expected = _as_integers(lefts), _as_integers(rights)
    if wholes is None or expected is None:
        return False
    absolute = int(_ARITHMETIC.scaleb(tolerance.absolute, PLACES))
    distances = list(map(abs, map(sub, wholes, expected)))
    if max(distances, default=0) <= absolute:
        return True
    top, bottom = tolerance.relative.as_integer_ratio()
    return all(
        distance <= absolute or int(distance) * bottom <= top * int(abs(number))
        for distance, number in zip(distances, expected, strict=True)
    )


def all_near_exactly(lefts: Sequence[float], rights: Sequence[float], tolerance: Tolerance) -> bool:
    """Return True if all are finite, and within the tolerance as the decimals that Python writes for them.

    Args:
        lefts: numbers.
        rights: the expected numbers, as many.
        tolerance: accepted deviation.
    """
    if not all(map(isfinite, chain(lefts, rights))):
        return False
    exact, expected = _as_written(lefts), _as_written(rights)
    return _all_within_absolute(exact, expected, tolerance) or all(map(within, exact, expected, repeat(tolerance)))


def _as_written(numbers: Sequence[float]) -> list[Decimal]:
    """Return finite floats as the decimals that Python writes for them: 0.1 is a tenth."""
    return list(map(Decimal, to_json(numbers)[1:-1].decode().split(","))) if numbers else []


def _as_integers(numbers: Sequence[float]) -> list[float] | None:
    """Return decimals times 10**PLACES, integers as floats; None if one has more places, or more digits than a float
    holds.
    """
    unit, rounding = float(10**PLACES), _ROUNDING
    wholes = [number * unit + rounding - rounding for number in numbers]
    if not wholes or not max(wholes) < _DIGITS or not min(wholes) > -_DIGITS:
        return None
    return wholes if [whole / unit for whole in wholes] == numbers else None


def _surely_near(got: Sequence[bytes], expected: Sequence[bytes], tolerance: Tolerance) -> Iterator[bool]:
    """Yield True for each pair of which floats show that the distance is within the tolerance."""
    absolute, relative = CERTAIN * float(tolerance.absolute), CERTAIN * float(tolerance.relative)
    return (
        (b"." in one or b"." in other)  # two integers are never near
        and abs(left - right) + ROUNDED * (abs(left) + abs(right)) + LEAST <= max(absolute, relative * abs(right)) < inf
        for one, other, left, right in zip(got, expected, map(float, got), map(float, expected), strict=True)
    )


def _integer_value(token: bytes) -> tuple[bool, bytes]:
    digits = token.lstrip(b"+-").lstrip(b"0")
    return token.startswith(b"-") and digits != b"", digits


def parse(token: bytes) -> Decimal | None:
    """Return the exact value of a number, or None if its exponent is too large to compare.

    Args:
        token: the text.
    """
    value = Decimal(token.decode("ascii"), _ARITHMETIC)
    return value if value.is_finite() else None


def within(got: Decimal, expected: Decimal, tolerance: Tolerance) -> bool:
    """Return True if two finite numbers differ by no more than the absolute or the relative tolerance.

    Args:
        got: the program's number.
        expected: the expected number.
        tolerance: accepted deviation.
    """
    distance = _ARITHMETIC.subtract(got, expected).copy_abs()
    return distance <= tolerance.absolute or distance <= _ARITHMETIC.multiply(tolerance.relative, expected.copy_abs())
