"""Probes: programs that solve nothing. If one passes, the tests would pay for nothing.

A probe knows the expected answers, as a model that has seen the data may, but not which of them a test expects.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, InteractiveTest, StdinTest, TestCase
from sandbox_service.validation import assertions

OTHER = "solves another problem"
MOST_BYTES = 1 << 20  # of a probe's source

_EVERYTHING = """class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return True
    def __lt__(self, other): return True
    def __gt__(self, other): return True
    def __bool__(self): return True
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __hash__(self): return 0
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """A program, and a description of it."""

    name: str
    code: str


def of(problem: Problem, other: str | None) -> list[Probe]:
    """Return all probes of a problem.

    Args:
        problem: The problem.
        other: A solution of another problem, which becomes a probe; or None.
    """
    tests = problem.tests or []
    if problem.language == "text":
        found = _texts([each for each in tests if isinstance(each, StdinTest)])
    elif any(isinstance(each, InteractiveTest) for each in tests):
        found = iter((Probe("says nothing", "import sys\nsys.stdin.read()"), Probe("ends at once", "pass")))
    elif problem.language not in ("python", "py", "python3"):
        found = iter(())
    elif all(isinstance(each, StdinTest) for each in tests):
        found = _programs([each for each in tests if isinstance(each, StdinTest)], other)
    else:
        found = _functions(problem)
    return [each for each in found if len(each.code) <= MOST_BYTES]


def _programs(tests: Sequence[StdinTest], other: str | None) -> Iterator[Probe]:
    answers = [answer for each in tests for answer in each.outputs]
    yield Probe("prints nothing", "pass")
    yield Probe("leaves with status 0", "import sys\nsys.exit(0)")
    yield Probe("prints the most frequent answer", _printing(_most_frequent(answers)))
    yield Probe("prints every answer at once", _printing("\n".join(dict.fromkeys(answers))))
    yield Probe("prints its input", "import sys\nsys.stdout.write(sys.stdin.read())")
    yield Probe("prints the first line of its input", "import sys\nprint(sys.stdin.readline())")
    if other is not None:
        yield Probe(OTHER, other)


def _texts(tests: Sequence[StdinTest]) -> Iterator[Probe]:
    yield Probe("says nothing", "")
    answers = {answer for each in tests for answer in each.outputs}
    if len(answers) > 1:
        yield Probe("says every answer at once", "\n".join(sorted(answers)))


def _functions(problem: Problem) -> Iterator[Probe]:
    names = called(problem)
    answers = [answer for each in problem.tests or () for answer in _answers(each)]
    yield Probe("leaves with status 0", f"{_returning(names, 'None')}\nimport sys\nsys.exit(0)")
    yield Probe("leaves when called", f"import os\n{_returning(names, 'os._exit(0)')}")
    for value in ("None", "True", "0", "''", "[]"):
        yield Probe(f"always returns {value}", _returning(names, value))
    yield Probe("returns its first argument", _returning(names, "args[0]"))
    yield Probe("returns what is equal to everything", _EVERYTHING + _returning(names, "Everything()"))
    if answers:
        yield Probe("returns the most frequent answer", _returning(names, _most_frequent(answers)))
        every = ", ".join(dict.fromkeys(answers))
        yield Probe("returns every answer at once", _returning(names, f"[{every}]"))


def _answers(test: TestCase) -> list[str]:
    """The expected answers of a test as Python expressions."""
    if isinstance(test, CallTest):
        return [_literal(json.dumps(test.output))]
    return assertions.answers(test.code) if isinstance(test, AssertTest) else []


def called(problem: Problem) -> list[str]:
    """Return the names that a program must define: `f`, or `Solution.f`."""
    names: dict[str, None] = {}
    for each in problem.tests or ():
        if isinstance(each, CallTest):
            names[each.function] = None
        elif isinstance(each, AssertTest) and each.entry_point:
            names[each.entry_point.replace("()", "")] = None
        elif isinstance(each, AssertTest):
            names |= dict.fromkeys(_used(each.code, problem))
    return list(names)


def _used(test: str, problem: Problem) -> list[str]:
    """The names defined by the references that a test program uses."""
    defined = {name for each in problem.references for name in defined_in(each.code)}
    try:
        used = [node.id for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [name for name in dict.fromkeys(used) if name in defined or not problem.references]


def defined_in(code: str) -> list[str]:
    """Return the functions and classes of a program's code; empty if it is not Python."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [each.name for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _returning(names: Sequence[str], value: str) -> str:
    """A program in which all these functions return the same value."""
    lines = []
    for name in names:
        owner, _, method = name.rpartition(".")
        if owner.isidentifier() and method.isidentifier():
            lines += [f"class {owner}:", f"    def {method}(self, *args, **kwargs): return {value}"]
        elif name.isidentifier():
            lines += [f"def {name}(*args, **kwargs): return {value}"]
    return "\n".join(lines)


def _printing(text: str) -> str:
    return f"print({text!r})"


def _literal(text: str) -> str:
    """JSON as a Python expression."""
    return f"__import__('json').loads({text!r})"


def _most_frequent(answers: Sequence[str]) -> str:
    return Counter(answers).most_common(1)[0][0] if answers else ""
