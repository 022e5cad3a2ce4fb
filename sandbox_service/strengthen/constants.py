"""Reads the constants with which references compare: values near these tell wrong programs from right ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_NUMBERS, MOST_TEXTS = 16, 16
LARGEST = 10**12
LONGEST = 20  # characters of a text
_LOOPS = (ast.For, ast.While, ast.comprehension, ast.Pow, ast.LShift)
_MANY = ("range", "map", "filter", "reduce", "pow", "factorial")  # functions that loop

_COMPARED = re.compile(r"(?:[<>=!]=|[<>%])\s*(-?\d{1,13})\b")


@dataclass(frozen=True, slots=True)
class Constants:
    """Whole numbers and texts, each sorted. `are_formulas` says that no reference has a loop."""

    numbers: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    are_formulas: bool = False

    @property
    def near(self) -> tuple[int, ...]:
        """The numbers, one less and one more."""
        return tuple(sorted({each + by for each in self.numbers for by in (-1, 0, 1)}))


NONE = Constants()


def constants_of(programs: Sequence[tuple[str, str]]) -> Constants:
    """Return the constants of some programs.

    Args:
        programs: Language and source of each.
    """
    found: list[int | str] = []
    for language, code in programs:
        found += _of_python(code) if language == "python" else map(int, _COMPARED.findall(code))
    numbers = dict.fromkeys(each for each in found if isinstance(each, int) and abs(each) <= LARGEST)
    texts = dict.fromkeys(each for each in found if isinstance(each, str) and 0 < len(each) <= LONGEST)
    return Constants(
        tuple(sorted(list(numbers)[:MOST_NUMBERS])),
        tuple(sorted(list(texts)[:MOST_TEXTS])),
        all(language == "python" and _is_formula(code) for language, code in programs),
    )


def _is_formula(code: str) -> bool:
    """Return whether a program has one function, without a loop or a call of a function of its own or of many items."""
    tree = _parsed(code)
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    functions = [each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    has_loop = any(isinstance(each, _LOOPS) for each in ast.walk(tree))
    return len(functions) == 1 and not has_loop and not names & {*functions, *_MANY}


def _of_python(code: str) -> Iterator[int | str]:
    """The constants in comparisons and divisions, the bounds of ranges, and the texts in calls."""
    for node in ast.walk(_parsed(code)):
        if isinstance(node, ast.Compare):
            yield from _within([node.left, *node.comparators], (int, str))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv):
            yield from _within([node.right], (int,))
        elif isinstance(node, ast.Call):
            is_range = getattr(node.func, "id", "") == "range"
            yield from _within(node.args, (int,) if is_range else (str,))


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _within(nodes: Sequence[ast.expr], types: tuple[type, ...]) -> Iterator[int | str]:
    """The constants that are these expressions, or items of them; a negative number is an expression of its own."""
    for each in nodes:
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.USub):
            yield from (-number for number in _within([each.operand], (int,)) if isinstance(number, int))
        elif isinstance(each, ast.List | ast.Tuple | ast.Set):
            yield from _within(each.elts, types)
        elif isinstance(each, ast.Constant) and type(each.value) in types:
            assert isinstance(each.value, int | str)
            yield each.value
