"""Reads assertions on the distance of a result from a number: `assert abs(f(1) - 0.5) < 1e-6`, and `NEAR_ROW`.

What holds is computed as in the test program, on values of the same types, so that exceptions are the same, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

TOLERANCE = 1e-6  # of a real number that a made assertion compares; of one beyond 1 it is relative
_NEAR = f"abs(a - b) <= {TOLERANCE} * max(1, abs(b))"
NEAR_ROW = f"all({_NEAR} for a, b in zip({{}}, {{}}, strict=True))"
"""An assertion on a row of real numbers: the call and the expected row stand in the braces."""

HELPERS = frozenset({"abs", "all", "max", "zip"})  # builtins that measure distances
LARGE = 10**300  # a larger integer cannot be subtracted from every real number

_NEAR_FORM = ast.dump(ast.parse(_NEAR, mode="eval").body)
_STRICT = ast.dump(ast.keyword("strict", ast.Constant(value=True)))


class UndecidedError(Exception):
    """Only the test program can judge a result."""


def relation(test: ast.expr) -> tuple[ast.expr, Callable[[Any], bool]] | None:
    """Return the call whose result is measured, and whether an assertion holds for its value.

    Args:
        test: the expression that is asserted.

    Returns:
        Both; None if it is no distance. The function raises what the assertion raises on a value, and UndecidedError.
    """
    match test:
        case ast.Compare(ast.Call(ast.Name("abs"), [ast.BinOp(left, ast.Sub(), right)], []), [how], [limit]):
            is_first = isinstance(left, ast.Call)
            call, number = (left, right) if is_first else (right, left)
            holds = _near(_number(number), how, _number(limit), is_first=is_first)
        case ast.Call(ast.Name("all"), [ast.GeneratorExp(near, [ast.comprehension(pair, zipped, [], 0)])], []):
            call, row = _zipped(near, pair, zipped)
            holds = _near_row(row)
        case _:
            return None
    return None if holds is None else (call, holds)


def _near(
    expected: float | None, how: ast.cmpop, limit: float | None, *, is_first: bool
) -> Callable[[Any], bool] | None:
    """Return whether a result, the first operand or not, is at a smaller distance than the limit, or at the limit."""
    if expected is None or limit is None or not isinstance(how, ast.Lt | ast.LtE):
        return None

    def holds(found: Any) -> bool:
        distance = abs(found - expected if is_first else expected - found)
        return bool(distance < limit if isinstance(how, ast.Lt) else distance <= limit)

    return holds


def _zipped(near: ast.expr, pair: ast.expr, zipped: ast.expr) -> tuple[ast.expr, Any]:
    """Return the call and the expected row of `NEAR_ROW`; the row is None if the expression has another form."""
    match pair, zipped:
        case ast.Tuple([ast.Name("a"), ast.Name("b")]), ast.Call(ast.Name("zip"), [call, row], [strict]):
            if ast.dump(near) == _NEAR_FORM and ast.dump(strict) == _STRICT:
                return call, ast.literal_eval(row)
    return zipped, None


def _near_row(expected: Any) -> Callable[[Any], bool] | None:
    """Return whether a result is a row of numbers that are near those of a list or tuple."""
    if not isinstance(expected, list | tuple) or not all(map(_is_number, expected)):
        return None

    def holds(found: Any) -> bool:
        if isinstance(found, set):  # the order of its items is the test program's own
            raise UndecidedError
        return all(abs(a - b) <= TOLERANCE * max(1, abs(b)) for a, b in zip(found, expected, strict=True))

    return holds


def _number(node: ast.expr) -> float | None:
    """Return a number, which may be the quotient of two; None for anything else."""
    match node:
        case ast.BinOp(left, ast.Div(), ast.Constant(int() | float() as divisor)) if divisor:
            dividend = _number(left)
            return None if dividend is None else dividend / divisor
    found = ast.literal_eval(node)
    return found if _is_number(found) else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that can be subtracted from any other one."""
    return type(value) is float or (type(value) is int and abs(value) < LARGE)
