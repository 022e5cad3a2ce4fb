"""Converts pytest files to test programs: one for each test function, with the code that all of them share.

A box has no pytest. `from solution import …` is removed, because a test program reaches the candidate by its names, and
of pytest only `raises` is supported. Tests that need more (fixtures, parameters, classes with a base) are refused with
a reason.
"""

from __future__ import annotations

import ast
import builtins

from sandbox_service.schema import AssertTest

MODULE = "solution"

RAISES = """\
import re as _re


class pytest:
    class raises:
        def __init__(self, kind, match=None):
            self.kind, self.match, self.value = kind, match, None

        def __enter__(self):
            return self

        def __exit__(self, kind, error, _):
            assert error is not None, "nothing was raised"
            self.value = error
            return isinstance(error, self.kind) and (self.match is None or bool(_re.search(self.match, str(error))))
"""


def programs(source: str) -> list[AssertTest]:
    """Return a test program for each test function of a source file.

    Raises:
        ValueError: If a test needs more than `raises`.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, RecursionError, MemoryError) as trouble:
        raise ValueError(f"the tests are no Python program: {trouble}") from None
    body = [node for node in body if not _is_main(node)]
    _check_no_others(body)
    entry = _entry(body)
    shared = [each for node in body if not _is_test(node) for each in _without_solution(node)]
    tests = [(node, call) for node in body if _is_test(node) for call in _calls(node)]
    if not tests:
        raise ValueError("the test program has no test functions")
    before = RAISES if _uses_pytest(body) else ""
    return [AssertTest(code=f"{before}{_text([*shared, node])}\n{call}\n", entry_point=entry) for node, call in tests]


def _entry(body: list[ast.stmt]) -> str | None:
    """The only name that is imported from the solution, even if it is that of a builtin."""
    names = {
        each.name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.ImportFrom) and node.module == MODULE
        for each in node.names
    }
    return names.pop() if len(names) == 1 and "*" not in names else None


def _text(nodes: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(nodes, []))


def _is_test(node: ast.stmt) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return (isinstance(node, functions) and node.name.startswith("test")) or _is_class(node)


def _is_class(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test")


def _check_no_others(body: list[ast.stmt]) -> None:
    """Refuse tests that pytest would run and that would not be run here: in blocks, and of unittest."""
    for node in body:
        if isinstance(node, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in node.bases):
            raise ValueError(f"the class {node.name} is unittest's: only plain classes of tests can be run here")
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For) and any(map(_is_test, _inside(node))):
            raise ValueError("a test is defined inside of a block, where it would not be run")


def _inside(node: ast.stmt) -> list[ast.stmt]:
    return [each for each in ast.walk(node) if isinstance(each, ast.stmt)]


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _calls(node: ast.stmt) -> list[str]:
    """The calls that run the tests of a function or class."""
    if isinstance(node, ast.FunctionDef):
        _check_function(node, parameters=0)
        return [f"{node.name}()"]
    if not isinstance(node, ast.ClassDef):
        raise ValueError("a test is a coroutine")
    if node.bases or any(isinstance(each, ast.FunctionDef) and each.name.startswith("setup") for each in node.body):
        raise ValueError(f"the class {node.name} has a base or a set-up: only plain classes of tests can be run here")
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test")]
    for method in methods:
        _check_function(method, parameters=1)
    return [f"{node.name}().{method.name}()" for method in methods]


def _check_function(node: ast.FunctionDef, parameters: int) -> None:
    if node.decorator_list:
        raise ValueError(f"{node.name} has a decorator, such as pytest's parameters, which cannot be run here")
    if len(node.args.args) != parameters:
        raise ValueError(f"{node.name} takes fixtures, which are not supported")


def _without_solution(node: ast.stmt) -> list[ast.stmt]:
    """The statement without imports of the candidate and of pytest; aliases become assignments."""
    if isinstance(node, ast.ImportFrom) and node.module == MODULE:
        renamed = [f"{each.asname} = {each.name}" for each in node.names if each.asname not in (None, each.name)]
        return ast.parse("\n".join(renamed)).body
    if isinstance(node, ast.Import):
        node.names = [each for each in node.names if each.name != "pytest"]
        if any(each.name == MODULE for each in node.names):
            raise ValueError("the tests import the solution as a module")
        return [node] if node.names else []
    if isinstance(node, ast.ImportFrom) and node.module == "pytest":
        raise ValueError("the tests import names from pytest, which is not installed")
    return [node]


def _uses_pytest(body: list[ast.stmt]) -> bool:
    """Return True if pytest is used. Raise ValueError for anything but `raises`."""
    used = {
        node.attr
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pytest"
    }
    if more := sorted(used - {"raises"}):
        raise ValueError(f"the tests use pytest.{more[0]}, of which only raises is supported")
    for statement in body:
        _check_raised(statement)
    return bool(used)


def _check_raised(statement: ast.stmt) -> None:
    """Refuse other exceptions than builtin ones: only these keep their type across boxes."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises" and node.args:
            names = {each.id for each in ast.walk(node.args[0]) if isinstance(each, ast.Name)}
            if other := sorted(name for name in names if not hasattr(builtins, name)):
                raise ValueError(f"the tests expect {other[0]} to be raised, and only builtin exceptions are supported")
