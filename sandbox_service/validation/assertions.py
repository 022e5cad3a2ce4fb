"""Reads test programs as syntax trees: counts assertions, extracts expected answers, loosens list order.

Nothing is executed. Code that the parser does not understand yields no answers instead of guesses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sandbox_service.schema import CallTest

REPEATED = 100  # assertions that the text does not count, such as those in a loop
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_NO_ORDER = """def _no_order(value):
    if isinstance(value, (list, tuple)):
        return sorted(map(_no_order, value), key=repr)
    return value
"""


def count(code: str) -> int:
    """Return the number of distinct assertions in a test program.

    An assertion in a loop counts as many, and so does a program that has no recognised assertion, since it may check by
    other means (another language, an exception that it raises).

    Args:
        code: Source of the test program.
    """
    tree = _tree(code)
    return (len({*_asserted(tree, is_repeated=False)}) if tree is not None else 0) or REPEATED


def answers(code: str) -> list[str]:
    """Return the expected answers of a test program as Python expressions.

    Args:
        code: Source of the test program.

    Returns:
        `x` for every `assert f(…) == x`; empty if the program asserts anything of another form.
    """
    tree = _tree(code)
    asserted = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)] if tree is not None else []
    found = [_answer(each) for each in asserted]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def without_order(code: str) -> str | None:
    """Return the same test program with comparisons that ignore the order of lists.

    Args:
        code: Source of the test program.

    Returns:
        The changed source, or None if no list is compared.
    """
    tree = _tree(code)
    loosened = [_loosen(node) for node in ast.walk(tree) if isinstance(node, ast.Compare)] if tree is not None else []
    return _NO_ORDER + ast.unparse(tree) if tree is not None and any(loosened) else None


def of_call(test: CallTest, defined: Sequence[str]) -> str:
    """Return a call test as a test program.

    Args:
        test: The call and its expected value.
        defined: Names of the solution's functions; a call of any other name becomes a method call.
    """
    name = test.function.rpartition(".")[2]
    called = name if name in defined else f"Solution().{name}"
    return f"assert {called}(*{test.args!r}, **{test.kwargs!r}) == {test.output!r}"


def _tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _asserted(node: ast.AST, *, is_repeated: bool) -> Iterator[tuple[str, int]]:
    repeated = is_repeated or isinstance(node, _LOOPS)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert) or _is_call_of_an_assertion(child):
            said = ast.dump(child)
            yield from ((said, place) for place in range(REPEATED if repeated else 1))
        else:
            yield from _asserted(child, is_repeated=repeated)


def _is_call_of_an_assertion(node: ast.AST) -> bool:
    """Match `assertion(…)`, `self.assertEqual(…)`, `np.testing.assert_allclose(…)`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name.startswith("assert")


def _answer(asserted: ast.expr) -> str | None:
    """Return the value that a call is compared with.

    A nested call may be the call under test, and the outer one a comparison.
    """
    if not isinstance(asserted, ast.Compare) or len(asserted.ops) > 1 or not isinstance(asserted.left, ast.Call):
        return None
    calls = [node for node in ast.walk(asserted.left) if isinstance(node, ast.Call)]
    is_equal = isinstance(asserted.ops[0], ast.Eq | ast.Is)
    return ast.unparse(asserted.comparators[0]) if is_equal and len(calls) == 1 and _is_plain(asserted) else None


def _is_plain(asserted: ast.Compare) -> bool:
    try:
        ast.literal_eval(asserted.comparators[0])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _loosen(compared: ast.Compare) -> bool:
    """Turn `a == […]` into `_no_order(a) == _no_order([…])`, in place."""
    right = compared.comparators[0]
    if not isinstance(compared.ops[0], ast.Eq) or not isinstance(right, ast.List | ast.Tuple):
        return False
    compared.left, compared.comparators[0] = _called(compared.left), _called(right)
    return True


def _called(value: ast.expr) -> ast.expr:
    return ast.Call(func=ast.Name(id="_no_order", ctx=ast.Load()), args=[value], keywords=[])
