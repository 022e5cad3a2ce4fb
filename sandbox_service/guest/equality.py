"""Compares two mathematical answers: the expected one, and one received as a tree from an untrusted box.

Numbers and expressions are compared by value, exactly where possible and otherwise to hundreds of digits. Expressions
with unknowns are compared at a few fixed points, which distinguishes expressions unless they agree near all of these.
Values built from expressions (sets, intervals, equations, inequalities) are compared by math-verify. No text is
evaluated.
"""

from itertools import combinations
from typing import Any

import fixed_points
import sympy
import trees
import units
from fixed_points import DIGITS, MOST_DIGITS
from math_verify.grader import (
    is_assignment_relation,
    is_equation,
    is_relation,
    sympy_expr_eq,
    take_first_relation,
    take_last_relation,
)
from sympy import Expr, Rational, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

Tolerance = tuple[float, float]  # absolute, relative

Answer = dict[str, Any]


class Value:
    """An answer with its tree decoded."""

    def __init__(self, answer: Answer) -> None:
        """Args:
            answer: the answer as data.

        Raises:
            ForeignNodeError: the tree is malformed. sympy may raise other exceptions.
        """
        self.text: str | None = answer.get("text")
        self.percent = bool(answer.get("percent"))
        self.unit = answer.get("unit")
        self.listed = bool(answer.get("listed"))
        self.letters = answer.get("letters")
        self.choice = answer.get("choice")
        self.value = trees.decode(answer["tree"]) if self.text is None else None


def difference(expected: Value, got: Value, tolerance: Tolerance | None = None) -> str | None:
    """Return None if two answers are equal, else the reason why not.

    Args:
        expected: the expected answer.
        got: the candidate's answer.
        tolerance: absolute and relative tolerance.
    """
    if expected.text is not None or got.text is not None:
        return None if _same_words(_spelled(expected), _spelled(got)) else "another word"
    if None not in (expected.choice, got.choice) and expected.choice != got.choice:
        return "another choice"
    if units.differ(expected.unit, got.unit):
        return "another unit"
    if any(one.percent and other.unit is not None for one, other in ((expected, got), (got, expected))):
        return "another unit"
    if (expected.unit is None) != (got.unit is None) and _is_in_radians(expected, got):
        return "another unit"
    pairs = [(expected.value, got.value)]
    if expected.percent != got.percent:
        scale = Rational(1, 100)
        pairs += [(_scaled(expected, scale), _scaled(got, scale))]
    listed = expected.listed or got.listed
    return None if any(same(one, other, tolerance, listed=listed) for one, other in pairs) else "another value"


def _is_in_radians(*answers: Value) -> bool:
    """Return True if one answer is in degrees, and the value of the other has a pi."""
    return any(each.unit == ["degree", "1"] for each in answers) and any(
        each.unit is None and isinstance(each.value, Expr) and each.value.has(sympy.pi) for each in answers
    )


def _same_words(one: object, other: object) -> bool:
    """Return True for equal words; a time of day may lack its half."""
    return one == other or any(
        f"{early} {half}m" == late for early, late in ((one, other), (other, one)) for half in "ap"
    )


def _spelled(answer: Value) -> object:
    """Return the words of an answer; the letter of a choice or a single unknown, the letters of a product."""
    if answer.choice is not None:
        return answer.choice
    if answer.text is None and isinstance(answer.value, Symbol):
        return answer.value.name.lower()
    return answer.letters if answer.text is None else answer.text


def _scaled(answer: Value, scale: Rational) -> Any:
    return answer.value * scale if answer.percent and isinstance(answer.value, Expr) else answer.value


def same(expected: Any, got: Any, tolerance: Tolerance | None = None, *, listed: bool = False) -> bool:
    """Return True if two values are equal.

    Args:
        expected: the expected value.
        got: the candidate's value.
        tolerance: absolute and relative tolerance.
        listed: one of them was written as a list without brackets.
    """
    expected, got = _unwrapped(expected, got)
    if type(expected) is type(got) and expected == got:
        return True
    if isinstance(expected, trees.Ratio) or isinstance(got, trees.Ratio):
        return type(expected) is type(got) and _same_ratio(expected.args, got.args)
    if any(map(_is_inequality, (expected, got))) or _has_inequality(expected) != _has_inequality(got):
        return _same_solutions(expected, got)
    if isinstance(expected, sympy.Tuple) != isinstance(got, sympy.Tuple) and isinstance(expected, Expr) | isinstance(
        got, Expr
    ):
        return False
    if _is_collection(expected, got) and _is_collection(got, expected):
        return _same_collection(expected, got, tolerance, listed)
    if _is_matrix(expected) or _is_matrix(got):
        return _same_matrix(expected, got, tolerance)
    if isinstance(expected, Expr) and isinstance(got, Expr):
        near = None if tolerance is None else _near(expected, got, tolerance)
        return _same_expression(expected, got) if near is None else near
    if is_relation(expected) and is_relation(got):
        return _same_relation(expected, got)
    if isinstance(expected, Expr) and is_relation(got):
        return False
    return bool(sympy_expr_eq(expected, got, 6, MOST_DIGITS, allow_set_relation_comp=True))


def _same_ratio(expected: Any, got: Any) -> bool:
    """Return True if the parts are proportional."""
    if len(expected) != len(got) or not all(isinstance(part, Expr) for part in (*expected, *got)):
        return False
    zero = sympy.Integer(0)
    return not all(_same_expression(part, zero) for part in got) and all(
        _same_expression(one * its_other, other * its_one)
        for (one, its_one), (other, its_other) in combinations(zip(expected, got, strict=True), 2)
    )


def _is_inequality(value: Any) -> bool:
    """Return True for an inequality, and for several that are joined by words."""
    if isinstance(value, sympy.And | sympy.Or):
        return all(map(_is_inequality, value.args))
    return isinstance(value, Relational) and not isinstance(value, sympy.Eq)


def _same_solutions(expected: Any, got: Any) -> bool:
    """Compare an inequality with another value: by its sides, or as sets if there is one unknown."""
    if isinstance(expected, Relational) and isinstance(got, Relational) and _same_sides(expected, got):
        return True
    expected, got = _membership(expected, got), _membership(got, expected)
    unknowns = [value.free_symbols for value in (expected, got) if _has_inequality(value)]
    if len(unknowns[0]) == 1 and all(each == unknowns[0] for each in unknowns):
        return bool(set(_solutions(expected)) & set(_solutions(got)))
    return type(expected) is type(got) and bool(sympy_expr_eq(expected, got, 6, MOST_DIGITS))


def _membership(value: Any, other: Any) -> Any:
    r"""Return S for `x \in S` if x is the unknown of the other value, else the value."""
    is_membership = isinstance(value, sympy.Eq) and isinstance(value.rhs, sympy.Set)
    return value.rhs if is_membership and {value.lhs} == other.free_symbols else value


def _has_inequality(value: Any) -> bool:
    return _is_inequality(value) or _is_list_of_inequalities(value)


def _is_list_of_inequalities(value: Any) -> bool:
    return isinstance(value, sympy.FiniteSet) and bool(value.args) and all(map(_is_inequality, value.args))


def _solutions(value: Any) -> list[Any]:
    """Return the sets that a value may mean: a list of inequalities may mean all of them, or any."""
    if _is_inequality(value):
        return [_as_set(value)]
    if _is_list_of_inequalities(value):
        sets = list(map(_as_set, value.args))
        return [sympy.Union(*sets), sympy.Intersection(*sets)]
    return [value] if isinstance(value, sympy.Set) else []


def _is_matrix(value: Any) -> bool:
    return isinstance(value, sympy.MatrixBase)


def _same_matrix(expected: Any, got: Any, tolerance: Tolerance | None) -> bool:
    if not (_is_matrix(expected) and _is_matrix(got)) or expected.shape != got.shape:
        return False
    return all(same(one, other, tolerance) for one, other in zip(expected.flat(), got.flat(), strict=True))


def _is_collection(value: Any, other: Any) -> bool:
    """Return True for a value with elements; an open interval may be a pair if the other value is not an interval."""
    if isinstance(value, sympy.Interval):
        return bool(value.is_open) and isinstance(other, sympy.FiniteSet | sympy.Tuple)
    return isinstance(value, sympy.FiniteSet | sympy.Tuple)


def _same_collection(expected: Any, got: Any, tolerance: Tolerance | None, listed: bool) -> bool:
    """Compare sets and lists in any order, tuples and pairs in order; a set is not a tuple, a list may be either."""
    unordered = [isinstance(value, sympy.FiniteSet) for value in (expected, got)]
    if all(unordered):
        return _same_set(list(expected.args), list(got.args), tolerance)
    if any(unordered) and not listed:
        return False
    ones, others = _in_order(expected), _in_order(got)
    if any(unordered):
        ones, others = _coordinates(ones), _coordinates(others)
    return len(ones) == len(others) and all(map(lambda one, other: same(one, other, tolerance), ones, others))


def _in_order(value: Any) -> list[Any]:
    """Return the elements in the order in which they were written."""
    return [value.start, value.end] if isinstance(value, sympy.Interval) else list(trees.written(value))


def _coordinates(parts: list[Any]) -> list[Any]:
    """Return `y = 3, x = 4` in the order of a tuple; nothing if one unknown has several values."""
    names = [part.lhs.name for part in parts if isinstance(part, sympy.Eq) and isinstance(part.lhs, Symbol)]
    if len(set(names)) < len(names):
        return []
    if len(names) == len(parts) and set(names) <= set("xyz"):
        return sorted(parts, key=lambda part: str(part.lhs))
    return parts


def _same_set(expected: list[Any], got: list[Any], tolerance: Tolerance | None) -> bool:
    """Return True if the elements can be paired. Identical ones need no comparison."""
    if len(expected) != len(got):
        return False
    left = [each for each in got if each not in expected]
    for wanted in (each for each in expected if each not in got):
        found = next((each for each in left if _same_element(wanted, each, tolerance)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _same_element(expected: Any, got: Any, tolerance: Tolerance | None) -> bool:
    r"""Compare two elements of sets. In a set `\{5\}` is not `5`, as it is alone."""
    both = [isinstance(value, sympy.FiniteSet) for value in (expected, got)]
    return both[0] == both[1] and same(expected, got, tolerance)


def _unwrapped(expected: Any, got: Any) -> tuple[Any, Any]:
    """Replace a definition by its value: `x = 5` by 5, `2^5 = 32` by 32; but `x^2 = 25` is not 25."""
    if is_equation(got) and not is_relation(expected) and _defines(got):
        got = take_last_relation(got).rhs
    elif is_assignment_relation(expected) and not is_relation(got):
        expected = take_last_relation(expected).rhs
    return expected, got


def _defines(equation: Any) -> bool:
    if not _is_consistent(equation) or _is_reciprocal(take_first_relation(equation).lhs):
        return False
    if is_assignment_relation(equation):
        return True
    if isinstance(equation, sympy.Eq) and isinstance(equation.lhs, AppliedUndef) and not equation.lhs.free_symbols:
        return True  # f(2) = 7
    left, right = take_first_relation(equation).lhs, take_last_relation(equation).rhs
    return isinstance(left, Expr) and isinstance(right, Expr) and left.is_number and _same_expression(left, right)


def _is_reciprocal(value: Any) -> bool:
    return isinstance(value, Expr) and not value.is_number and value.as_numer_denom()[0].is_number


def _is_consistent(equation: Any) -> bool:
    """Return True if all numbers in a chain of equations are equal, which they are not in `x = 6 = 5`."""
    parts = trees.written(equation) if isinstance(equation, sympy.And) else (equation,)
    sides = [parts[0].lhs, *(part.rhs for part in parts)]
    numbers = [side for side in sides if isinstance(side, Expr) and side.is_number]
    return all(_same_expression(one, numbers[-1]) for one in numbers[:-1])


def _near(expected: Expr, got: Expr, tolerance: Tolerance) -> bool | None:
    """Return True if two real numbers are within the tolerance; None if one is not real, or both are integers."""
    if expected.is_Integer and got.is_Integer:
        return None
    one, other = (value.evalf(DIGITS, maxn=MOST_DIGITS) for value in (expected, got))
    if not (one.is_Number and other.is_Number and one.is_finite and other.is_finite):
        return None
    absolute, relative = map(Rational, map(repr, tolerance))
    apart = abs(Rational(one) - Rational(other))
    return bool(apart <= absolute or apart <= relative * abs(Rational(one)))


def _same_expression(expected: Expr, got: Expr) -> bool:
    if expected.is_Rational and got.is_Rational:
        return bool(expected == got)
    if expected.is_infinite or got.is_infinite:
        return bool(expected == got)
    return fixed_points.vanishes(_without_functions(expected - got))


def _without_functions(value: Expr) -> Expr:
    """Replace applications of unknown functions by unknowns: f(x) equals f(x) and nothing else."""
    found = sorted(value.atoms(AppliedUndef), key=sympy.srepr)
    return value.xreplace({each: Symbol(f"<{sympy.srepr(each)}>", real=True) for each in found})


def _same_relation(expected: Any, got: Any) -> bool:
    if isinstance(expected, sympy.Eq) and isinstance(got, sympy.Eq):
        return _same_equation(expected, got)
    if isinstance(expected, Relational) and isinstance(got, Relational) and _same_sides(expected, got):
        return True
    unknowns = expected.free_symbols
    if len(unknowns) == 1 and unknowns == got.free_symbols:
        return bool(_as_set(expected) == _as_set(got))
    return bool(sympy_expr_eq(expected, got, 6, MOST_DIGITS)) if type(expected) is type(got) else False


def _same_sides(expected: Any, got: Any) -> bool:
    """Return True if the two relations are equal, perhaps reversed."""
    if type(expected) is type(got):
        sides = (got.lhs, got.rhs)
    elif type(expected) is type(got.reversed):
        sides = (got.rhs, got.lhs)
    else:
        return False
    return all(same(one, other) for one, other in zip((expected.lhs, expected.rhs), sides, strict=True))


def _as_set(relation: Any) -> Any:
    if isinstance(relation, sympy.Or):
        return sympy.Union(*map(_as_set, relation.args))
    if isinstance(relation, sympy.And):
        return sympy.Intersection(*map(_as_set, relation.args))
    return relation.as_set()


def _same_equation(expected: Any, got: Any) -> bool:
    """Return True if the sides are equal, or one equation is a multiple of the other."""
    if _same_sides(expected, got) or _same_sides(expected, got.reversed):
        return True
    if not all(isinstance(side, Expr) for side in (*expected.args, *got.args)):
        return False
    one, other = expected.lhs - expected.rhs, got.lhs - got.rhs
    if not one.free_symbols or one.free_symbols != other.free_symbols:
        return False
    unknowns = sorted(one.free_symbols, key=str)
    elsewhere = {unknown: Symbol(f"<{unknown.name}>", real=True) for unknown in unknowns}
    return fixed_points.vanishes(one * other.xreplace(elsewhere) - other * one.xreplace(elsewhere))
