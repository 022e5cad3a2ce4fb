"""The rules by which two values are equal, and the comparison of two scalars."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

from sandbox_service.judging.numeric import Tolerance, within
from sandbox_service.judging.value_kinds import LARGE_BITS


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of a comparison. `match`: pair elements in any order by trying, where sorting is not enough."""

    tolerance: Tolerance | None
    ignore_case: bool
    any_order: bool
    match: bool = True


def text_key(rules: Rules, value: object) -> object:
    """Return what two equal texts have in common; other values as they are.

    Args:
        rules: the rules.
        value: a scalar.
    """
    # `casefold` also takes other letters for the same: "Maße" for "Masse"
    return value.lower() if rules.ignore_case and isinstance(value, str) else value


def same_number(rules: Rules, got: int | float | Decimal, expected: int | float | Decimal) -> bool:
    """Return whether two numbers are equal, or a float is near the other.

    Args:
        rules: the rules.
        got: the submission's number.
        expected: the expected number.
    """
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
