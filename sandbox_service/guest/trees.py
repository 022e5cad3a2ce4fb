"""Encodes mathematics as plain data, for the message from the box that parses an answer to the box that compares it.

A tree is JSON: `["Add", ["x", "2"], ["s", "x"]]`. The encoder keeps only heads that are named here. The decoder trusts
nothing: it looks heads up in one table, limits depth, nodes and integers, and evaluates no text. Powers and factorials
that are too large to write down become unknowns with a name of their own: they are equal only if written alike, and are
never computed.

Not here: parsing an answer's text (`latex_answers`), and comparing two trees (`equality`).
"""

import re
from collections.abc import Callable
from typing import Any

import sympy
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.sets import FiniteSet
from sympy import Basic, Expr, Function, Integer, Rational, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

Tree = list[Any]

MOST_NODES = 1000
MOST_DEPTH = 60
MOST_BITS = 16_384  # of an integer, and of the value of a power
LARGEST_FACTORIAL = 2000
MOST_ENTRIES = 100  # of a matrix
NAME = re.compile(r"[A-Za-z0-9_{},'\\ -]{1,60}")

CONSTANTS: dict[str, Basic] = {
    "pi": sympy.pi,
    "E": sympy.E,
    "I": sympy.I,
    "EulerGamma": sympy.EulerGamma,
    "oo": sympy.oo,
    "-oo": -sympy.oo,
    "EmptySet": sympy.S.EmptySet,
    "Naturals": sympy.S.Naturals,
    "Integers": sympy.S.Integers,
    "Rationals": sympy.S.Rationals,
    "Reals": sympy.S.Reals,
    "Complexes": sympy.S.Complexes,
}
NAMES = {value: name for name, value in CONSTANTS.items()}

# heads that evaluate their arguments; see `_BUILT` for the others
PLAIN = {
    head.__name__: head
    for head in (
        sympy.Add, sympy.Mul, sympy.Abs, sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.tan, sympy.csc, sympy.sec,
        sympy.cot, sympy.asin, sympy.acos, sympy.atan, sympy.acsc, sympy.asec, sympy.acot, sympy.sinh, sympy.cosh,
        sympy.tanh, sympy.asinh, sympy.acosh, sympy.atanh, sympy.floor, sympy.ceiling, sympy.Mod, sympy.Max, sympy.Min,
        sympy.Union, sympy.Intersection, sympy.Complement, sympy.Tuple,
    )
}  # fmt: skip
# heads that keep their arguments unevaluated
RELATIONS = {
    head.__name__: head
    for head in (
        sympy.Eq, sympy.Ne, sympy.StrictLessThan, sympy.LessThan, sympy.StrictGreaterThan, sympy.GreaterThan,
    )
}  # fmt: skip


class Ratio(Basic):  # type: ignore[misc]
    """A ratio of three or more parts, which is no quotient; one of two parts is."""


class ForeignNodeError(ValueError):
    """Raised for a malformed tree or an unsupported node; the message gives the reason."""


def encode(value: object) -> Tree:
    """Return the tree of a parsed answer.

    Args:
        value: a sympy object.

    Raises:
        ForeignNodeError: the value has an unsupported part.
    """
    if isinstance(value, sympy.MatrixBase):
        return ["Matrix", [[encode(value[row, column]) for column in range(value.cols)] for row in range(value.rows)]]
    if not isinstance(value, Basic):
        raise ForeignNodeError(f"it is a {type(value).__name__}")
    if value in NAMES:
        return ["c", NAMES[value]]
    if isinstance(value, sympy.Number):
        return _encode_number(value)
    if isinstance(value, Symbol):
        return ["c", "I"] if value.name == "i" else ["s", value.name]
    if isinstance(value, sympy.UnevaluatedExpr):
        return encode(value.args[0])
    if isinstance(value, AppliedUndef):
        return ["f", value.func.__name__, *map(encode, value.args)]
    return [_head(value), *map(encode, _arguments(value))]


def _encode_number(value: Any) -> Tree:
    """Encode a number exactly: a decimal as the fraction that its digits give."""
    if isinstance(value, sympy.Float):
        value = Rational(str(value))
    if not isinstance(value, Rational):
        raise ForeignNodeError("it divides by zero")
    return ["x", format(value.p, "x")] if value.q == 1 else ["x", format(value.p, "x"), format(value.q, "x")]


def _head(value: Basic) -> str:
    for name, head in (("FiniteSet", sympy.FiniteSet), ("And", sympy.And), ("Interval", sympy.Interval)):
        if isinstance(value, head):
            return name
    return type(value).__name__


def _arguments(value: Any) -> Any:
    if isinstance(value, sympy.Interval):
        return value.start, value.end, Integer(int(bool(value.left_open))), Integer(int(bool(value.right_open)))
    return written(value)


def written(value: Any) -> Any:
    """Return the parts of a value, in the order in which they were written if that is known.

    Args:
        value: a sympy object.
    """
    return getattr(value, "_unsorted_args", value.args)


def decode(tree: object) -> Any:
    """Return the sympy object of a tree.

    Args:
        tree: untrusted JSON.

    Raises:
        ForeignNodeError: the tree is malformed. sympy may raise other exceptions.
    """
    return _Decoder().value(tree, 0)


class _Decoder:
    def __init__(self) -> None:
        self._nodes = 0

    def value(self, tree: object, depth: int) -> Any:
        self._nodes += 1
        if depth > MOST_DEPTH or self._nodes > MOST_NODES:
            raise ForeignNodeError("it is too large")
        if type(tree) is not list or not tree or type(tree[0]) is not str:
            raise ForeignNodeError("the tree is malformed")
        head, given = tree[0], tree[1:]
        if head in _ATOMS:
            return _ATOMS[head](*given)
        if head == "Matrix":
            return self._matrix(given[0], depth)
        if head == "f":
            return Function(_name(given[0]))(*self._all(given[1:], depth))
        arguments = self._all(given, depth)
        if head in RELATIONS:
            return RELATIONS[head](*arguments, evaluate=False)
        if head in PLAIN:
            return PLAIN[head](*arguments)
        if head in _BUILT:
            return _BUILT[head](*arguments)
        raise ForeignNodeError(f"it has a {head[:40]}, which is not supported in an answer")

    def _all(self, trees: list[object], depth: int) -> list[Any]:
        return [self.value(each, depth + 1) for each in trees]

    def _matrix(self, rows: Any, depth: int) -> Any:
        if type(rows) is not list or not all(type(row) is list for row in rows):
            raise ForeignNodeError("the tree is malformed")
        if sum(map(len, rows)) > MOST_ENTRIES:
            raise ForeignNodeError("it is too large")
        return sympy.ImmutableMatrix([self._all(row, depth) for row in rows])


def _name(text: object) -> str:
    if type(text) is not str or not NAME.fullmatch(text):
        raise ForeignNodeError("it has an unknown with an invalid name")
    return text


def _number(top: str, bottom: str = "1") -> Rational:
    if type(top) is not str or type(bottom) is not str or max(len(top), len(bottom)) > MOST_BITS // 4:
        raise ForeignNodeError("it has a number with too many digits")
    if int(bottom, 16) <= 0:
        raise ForeignNodeError("it divides by zero")
    return Rational(int(top, 16), int(bottom, 16))


_ATOMS: dict[str, Callable[..., Any]] = {
    "x": _number,
    "s": lambda name: Symbol(_name(name), real=True),
    "c": lambda name: CONSTANTS[name],
}


def _power(base: Any, exponent: Any) -> Any:
    """Return the power, or an unknown if it is too large to write down."""
    if not isinstance(base, Expr) or not exponent.is_Rational or base in (0, 1, -1):
        return sympy.Pow(base, exponent)
    if _bits(base) * abs(exponent) > MOST_BITS:
        return _unknown("Pow", base, exponent)
    return sympy.Pow(base, exponent)


def _bits(value: Basic) -> int:
    return sum(number.p.bit_length() + number.q.bit_length() - 1 for number in value.atoms(Rational))


def _factorial(number: Any) -> Any:
    large = number.is_Number and number > LARGEST_FACTORIAL
    return _unknown("factorial", number) if large else sympy.factorial(number)


def _binomial(above: Any, below: Any) -> Any:
    large = any(number.is_Number and abs(number) > LARGEST_FACTORIAL for number in (above, below))
    return _unknown("binomial", above, below) if large else sympy.binomial(above, below)


def _gamma(number: Any) -> Any:
    large = number.is_Number and abs(number) > LARGEST_FACTORIAL
    return _unknown("gamma", number) if large else sympy.gamma(number)


def _unknown(head: str, *arguments: Basic) -> Symbol:
    """Return a positive real unknown whose name is the expression's text; no parsed unknown can have such a name."""
    return Symbol(f"<{head}{tuple(map(sympy.srepr, arguments))}>", positive=True)


def _interval(start: Any, end: Any, left_open: Any, right_open: Any) -> Any:
    return sympy.Interval(start, end, left_open == 1, right_open == 1)


def _matrices(head: Any) -> Callable[..., Any]:
    return lambda *arguments: head(*arguments).doit()


def _all_of(*parts: Any) -> Any:
    """Return the conjunction of relations; And merges two that are alike and then keeps only itself."""
    return parts[0] if len(set(parts)) == 1 else And(*parts)


def _any_of(*parts: Any) -> Any:
    """Return the disjunction of relations."""
    if not all(isinstance(part, sympy.And | sympy.Or | Relational) for part in parts):
        raise ForeignNodeError("it joins what are no relations")
    return sympy.Or(*parts, evaluate=False)


_BUILT: dict[str, Callable[..., Any]] = {
    "Pow": _power,
    "factorial": _factorial,
    "binomial": _binomial,
    "gamma": _gamma,
    "FiniteSet": FiniteSet,
    "And": _all_of,
    "Or": _any_of,
    "Interval": _interval,
    "Ratio": Ratio,
    "MatAdd": _matrices(sympy.MatAdd),
    "MatMul": _matrices(sympy.MatMul),
}
