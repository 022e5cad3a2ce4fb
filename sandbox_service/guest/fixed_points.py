"""Decides whether an expression is zero everywhere, by its values at a few fixed points.

An expression of one or several unknowns that is zero at all of them is taken for zero. No point is made for a certain
answer, and an answer cannot choose them.
"""

from itertools import islice
from typing import Any

import sympy
from sympy import Expr, Rational

DIGITS, MOST_DIGITS = 20, 300
POINTS, ENOUGH_POINTS = 14, 7
# Nothing is left of a value with fewer bits, after a calculation with MOST_DIGITS
FEWEST_BITS = 8
# The signs and sizes of the points, rotated for each unknown: they show all of |x|, |x - 3|, |xy| and |x - y|
FACTORS = (1, 20, 1, -20, 1, -1, -20)
# Unknowns that are whole numbers where a value rounds, or is a power of a negative number: of all residues up to eight
WHOLE_NAMES = frozenset("ijklmnpq")
WHOLE = (7, 40, 12, 3, 29, 18, 50, 1, 21, 64, 95, 6, 11, 100)


def vanishes(value: Expr) -> bool:
    """Return True if a value is zero at all points where it is defined, and defined at enough of them.

    Args:
        value: the value; without unknowns it is computed once.
    """
    unknowns = sorted(value.free_symbols, key=str)
    if not unknowns:
        return _is_zero(value, {}) is True
    point, enough = (_discrete_point, POINTS) if _is_discrete(value) else (_point, ENOUGH_POINTS)
    decided = (_is_zero(value, point(unknowns, number)) for number in range(POINTS))
    count = 0
    for is_zero in islice((each for each in decided if each is not None), enough):
        if not is_zero:
            return False
        count += 1
    return count >= ENOUGH_POINTS


def _is_discrete(value: Expr) -> bool:
    """Return True for a value that rounds, or has a power of a negative number such as `(-1)^n`."""
    return bool(value.has(sympy.floor, sympy.ceiling, sympy.Mod)) or any(
        power.base.is_negative and power.exp.free_symbols for power in value.atoms(sympy.Pow)
    )


def _discrete_point(unknowns: list[Any], number: int) -> dict[Any, Rational]:
    """Return a point with whole numbers for unknowns that are whole, and for the others at every second point."""
    point = _point(unknowns, number)
    for place, unknown in enumerate(unknowns):
        whole = WHOLE[(number + 3 * place) % POINTS]
        if unknown.name[0] in WHOLE_NAMES:
            point[unknown] = Rational(whole)
        elif number % 2:
            point[unknown] = Rational(whole if number % 4 == 1 else -whole)
    return point


def _point(unknowns: list[Any], number: int) -> dict[Any, Rational]:
    """Return fractions of both signs, small and large, different for each unknown."""
    return {
        unknown: FACTORS[(number + place) % len(FACTORS)]
        * Rational(1009 + 211 * place + 97 * number, 613 + 61 * number)
        for place, unknown in enumerate(unknowns, 1)
    }


def _is_zero(value: Expr, point: dict[Any, Rational]) -> bool | None:
    """Return True if the value is zero at the point; None if it is not a finite number there."""
    try:
        found = value.evalf(DIGITS, subs=point, maxn=MOST_DIGITS)
    except ValueError:  # sympy's, where rounded parts cancel out
        found = value.xreplace(point).evalf(DIGITS, maxn=MOST_DIGITS)
    if found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        return None
    real, imaginary = found.as_real_imag()
    if not (real.is_Number and imaginary.is_Number):
        return None
    return all(part == 0 or part._prec < FEWEST_BITS for part in (real, imaginary))
