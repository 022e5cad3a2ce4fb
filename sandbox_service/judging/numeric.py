"""Numbers as text, compared as what they are: integers digit by digit, everything else as exact decimals.

Most graders convert to float, and so believe that 10**18 + 1 is 10**18. Here nothing is rounded before it is
compared, and nothing calls `int()` on text, whose time grows with the square of its length (and which refuses more
than 4300 digits). This module knows nothing of lines or files; it does not decide *when* text is to be a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from sandbox_service.schema import Checker

# Possessive repeats: a long token that is not quite a number is refused without backtracking.
NUMBER_SYNTAX = rb"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_NUMBER = re.compile(NUMBER_SYNTAX)
_INTEGER = re.compile(rb"[+-]?\d+")
_NAN = re.compile(rb"[+-]?nan", re.IGNORECASE)

# Only differences and products are rounded, and to far more digits than any tolerance has. Nothing traps: text
# whose exponent is beyond all bounds becomes NaN, which `parse` refuses.
_ARITHMETIC = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be from the expected one: within either bound is near enough."""

    absolute: Decimal
    relative: Decimal


def tolerance_of(checker: Checker) -> Tolerance | None:
    """The checker's tolerance, if it has one; a bound that is named outright goes before `float_tolerance`."""
    absolute = _first_given(checker.absolute_tolerance, checker.float_tolerance)
    relative = _first_given(checker.relative_tolerance, checker.float_tolerance)
    if absolute is None and relative is None:
        return None
    return Tolerance(Decimal(repr(absolute or 0.0)), Decimal(repr(relative or 0.0)))


def _first_given(*bounds: float | None) -> float | None:
    return next((bound for bound in bounds if bound is not None), None)


def is_number(token: bytes) -> bool:
    """Plain decimal notation only: no nan, inf, hexadecimal, underscores or digits of other scripts."""
    return _NUMBER.fullmatch(token) is not None


def is_integer(token: bytes) -> bool:
    """Written as an integer; 1.0 is not."""
    return _INTEGER.fullmatch(token) is not None


def is_nan(token: bytes) -> bool:
    """The token says "not a number", in any case."""
    return _NAN.fullmatch(token) is not None


def same_number(got: bytes, expected: bytes, tolerance: Tolerance | None) -> bool:
    """Whether two tokens, both numbers, have the same value, or nearly.

    A tolerance is for what was rounded. Integers never were: two of them are equal or they are not.
    """
    if is_integer(got) and is_integer(expected):
        return _integer_value(got) == _integer_value(expected)
    left, right = parse(got), parse(expected)
    if left is None or right is None:
        return False
    return left == right or (tolerance is not None and within(left, right, tolerance))


def _integer_value(token: bytes) -> tuple[bool, bytes]:
    digits = token.lstrip(b"+-").lstrip(b"0")
    return token.startswith(b"-") and digits != b"", digits


def parse(token: bytes) -> Decimal | None:
    """The exact value of a number, or None where its exponent is beyond what can be compared."""
    value = Decimal(token.decode("ascii"), _ARITHMETIC)
    return value if value.is_finite() else None


def within(got: Decimal, expected: Decimal, tolerance: Tolerance) -> bool:
    """Whether two finite numbers differ by no more than the absolute or the relative tolerance."""
    distance = _ARITHMETIC.subtract(got, expected).copy_abs()
    return distance <= tolerance.absolute or distance <= _ARITHMETIC.multiply(tolerance.relative, expected.copy_abs())
