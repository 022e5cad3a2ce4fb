"""Docstrings name their subject and describe each argument; CONTRIBUTING.md states the rules.

ruff checks the rest: that a section `Args` is complete, and that Returns, Yields and Raises are where they are needed.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)

NO_SUBJECT = re.compile(r"(What|Whether|Who|Whose|How|Where|When|Whoever)\b")
ELSEWHERE = re.compile(r"(See|Implements) |.*; see `?[\w.]+`?\.$")  # described by a protocol or another function
MOST_PLAIN = 2  # more arguments of plain types need `Args`
# types that do not say what a value is; `Settings` or `JobQueue` does
PLAIN = frozenset(
    "Any AsyncIterator Awaitable Callable Collection Iterable Iterator Literal Mapping None Sequence bool bytearray "
    "bytes dict float frozenset int list memoryview object set str tuple type".split()
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | Function


@functools.cache
def nodes() -> Mapping[str, Sequence[Documented]]:
    """Return what may have a docstring, in each file of the service, of the trainer and of its examples."""
    return {
        path.relative_to(REPOSITORY).as_posix(): [
            each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, DOCUMENTED)
        ]
        for folder in ("sandbox_service", "trainer", "examples")
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
    }


def is_plain(annotation: ast.expr | None) -> bool:
    """Return True if a type does not say what its value is."""
    names = [each for each in ast.walk(annotation or ast.Constant(None)) if isinstance(each, ast.Name | ast.Attribute)]
    return {each.id if isinstance(each, ast.Name) else each.attr for each in names} <= PLAIN


def stems(text: str) -> set[str]:
    """Return the words of a text or a name, without common endings."""
    words = re.findall(r"[a-z]{2,}", text.lower())
    return {re.sub(r"(?<=\w{3})(?:ies|e?s|ed|ing|[ey])$", "", word) for word in words}


def undescribed(function: Function) -> list[str]:
    """Return the arguments that the docstring neither lists nor names."""
    text = ast.get_docstring(function)
    if text is None or "Args:" in text or ELSEWHERE.match(text.partition("\n")[0]):
        return []
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    plain = [each.arg for each in arguments if each.arg not in ("self", "cls", "_") and is_plain(each.annotation)]
    if len(plain) > MOST_PLAIN:
        return plain
    return [name for name in plain if not stems(name) & stems(text)]


def test_each_docstring_names_its_subject() -> None:
    unclear = {
        f"{path}:{getattr(node, 'lineno', 1)}": text
        for path, found in nodes().items()
        for node in found
        if (text := ast.get_docstring(node)) and NO_SUBJECT.match(text)
    }
    assert not unclear


def test_each_argument_is_described() -> None:
    missing = {
        f"{path}:{function.lineno} {function.name}": arguments
        for path, found in nodes().items()
        for function in found
        if isinstance(function, FUNCTIONS) and not function.name.startswith("_")
        if (arguments := undescribed(function))
    }
    assert not missing


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("def f(path: str): 'Return the file at a path.'", []),
        ("def f(path: str): 'Return a file.'", ["path"]),
        ("def f(queue: JobQueue, seconds: float | None): 'Wait.'", ["seconds"]),
        ("def f(suite_ids: Sequence[str]): 'Return the suites.'", []),
        ("def f(a: int, b: int, c: int): 'Add a, b and c.'", ["a", "b", "c"]),
        ("def f(ab: int, bc: int, cd: int):\n '''Add.\n\n Args:\n  ab: one\n'''", []),
        ("def f(path: str): 'See JobQueue.'", []),
        ("def f(path: str): 'Return it; see `read`.'", []),
    ],
)
def test_an_argument_is_named_or_listed(source: str, arguments: list[str]) -> None:
    (function,) = ast.parse(source).body
    assert isinstance(function, FUNCTIONS)
    assert undescribed(function) == arguments
