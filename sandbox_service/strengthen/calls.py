"""Reads calls from tests: call tests, and test programs that are plain assertions `assert f(…) == value`.

Arguments and results are Python values, so that test programs keep tuples and sets. Nothing is executed.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sandbox_service.judging.distances import NEAR_ROW, TOLERANCE
from sandbox_service.judging.plain_asserts import plain_test
from sandbox_service.schema import AssertTest, CallTest, TestCase

MOST_EXAMPLE = 2000  # characters of a call in a statement

_TABLE = """from {module} import {reader}
for args, result in {reader}({known!r}):
    assert {is_right}
"""
_MODULES = {"loads": "json", "literal_eval": "ast"}
_CALL = "{called}({unpacked}) == result"
_NEAR_CALL = (
    "abs({called}({unpacked}) - result) <= {tolerance} * max(1, abs(result)) "
    "if type(result) is float else {called}({unpacked}) == result"
)


@dataclass(frozen=True, slots=True)
class GivenCall:
    """A call with positional arguments, or with arguments by these names, and its result."""

    args: tuple[Any, ...]
    result: Any
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Calls:
    """The calls that the tests of a problem make.

    Attributes:
        function: What is called, as a call test names it.
        given: The calls.
        like: A test to make others like.
    """

    function: str
    given: tuple[GivenCall, ...]
    like: CallTest | AssertTest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arguments, where calls pass them by name."""
        return self.given[0].names

    @property
    def unpacked(self) -> str:
        """Source by which a call passes the items of a list `args` as its arguments."""
        return f"**dict(zip({self.names!r}, args))" if self.names else "*args"

    def test(self, args: Sequence[Any], result: Any) -> TestCase:
        """Return a test of the same type that makes another call.

        Args:
            args: Positional arguments.
            result: The expected result.
        """
        if isinstance(self.like, CallTest):
            return CallTest(function=self.function, args=list(args), output=result)
        has_entry = self.like.entry_point is not None
        passed = [f"{name}={each!r}" for name, each in zip(self.names, args, strict=False)] or map(repr, args)
        called = f"{'candidate' if has_entry else self.function}({', '.join(passed)})"
        if type(result) is float:
            asserted = f"abs({called} - {result!r}) <= {_tolerance(result)}"
        elif is_row_of_reals(result):
            asserted = NEAR_ROW.format(called, repr(result))
        else:
            asserted = f"{called} == {result!r}"
        code = f"def check(candidate):\n    assert {asserted}\n" if has_entry else f"assert {asserted}\n"
        return AssertTest(code=code, entry_point=self.like.entry_point, prelude=self.like.prelude)

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """Return tests that this made, assertions as one test program: it takes one box instead of one each.

        Args:
            tests: Tests of `test`.
        """
        programs = [each for each in tests if isinstance(each, AssertTest)]
        if len(programs) < 2 or len(programs) < len(tests):
            return list(tests)
        head, bodies = "", [each.code for each in programs]
        if programs[0].entry_point is not None:
            head = programs[0].code.partition("\n")[0] + "\n"
            bodies = [each.removeprefix(head) for each in bodies]
        return [programs[0].model_copy(update={"code": f"{head}{''.join(bodies)}"})]

    def table(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """Return tests that this made, assertions as one test program.

        It has the calls as a literal: its syntax tree is small, whatever the calls, so that it is read in a fraction of
        the time of `merged`. JSON is read forty times as fast as a Python literal, which only tuples, sets and the like
        need. Where the grader compares the assertions of `merged` itself, and not those of the literal, it is `merged`.

        Args:
            tests: Tests of `test`.
        """
        merged = self.merged(tests)
        looped = self._looped(tests)
        if looped is None:
            return merged
        return merged if all(map(_is_plain, (self.like, *merged))) and not _is_plain(looped) else [looped]

    def _looped(self, tests: Sequence[TestCase]) -> AssertTest | None:
        """A test program that loops over all calls; None if there is none."""
        first = tests[0] if tests else None
        if not isinstance(first, AssertTest):
            return None
        names = {self.function, "candidate"}
        made = [call for each in tests if isinstance(each, AssertTest) for call in _asserted(each.code, names)]
        if len(made) < len(tests):
            return None
        reader, known = _literal([[list(each.args), each.result] for each in made])
        called = "candidate" if first.entry_point is not None else self.function
        compared = _NEAR_CALL if any(type(each.result) is float for each in made) else _CALL
        is_right = compared.format(called=called, unpacked=self.unpacked, tolerance=TOLERANCE)
        code = _TABLE.format(module=_MODULES[reader], reader=reader, known=known, is_right=is_right)
        if first.entry_point is not None:
            code = "def check(candidate):\n" + "".join(f"    {line}\n" for line in code.splitlines())
        return first.model_copy(update={"code": code})


def _is_plain(test: TestCase) -> bool:
    return isinstance(test, AssertTest) and plain_test(test.code, test.entry_point, test.prelude or "") is not None


def _literal(value: Any) -> tuple[str, str]:
    """Return the name of a function that reads a value from text, and the text."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        if repr(json.loads(text)) == repr(value):
            return "loads", text
    except (TypeError, ValueError):
        pass
    return "literal_eval", repr(value)


def _tolerance(result: float) -> float:
    return TOLERANCE * max(1.0, abs(result))


def is_row_of_reals(value: Any) -> bool:
    """Return whether a value is a list or tuple of finite numbers, not all of which are whole."""
    if not isinstance(value, list | tuple) or not all(type(each) in (int, float) for each in value):
        return False
    return any(type(each) is float for each in value) and all(map(math.isfinite, value))


def calls_of(tests: Sequence[TestCase]) -> Calls | None:
    """Return the calls of these tests, or None if they are not plain calls of one function."""
    found: list[GivenCall] = []
    functions: set[str] = set()
    for test in tests:
        if test.role == "audit":
            continue
        if isinstance(test, CallTest) and test.calls is None and not test.kwargs:
            functions.add(test.function)
            found.append(GivenCall(tuple(test.args), test.output))
        elif isinstance(test, AssertTest) and (name := _function_of(test)):
            functions.add(name)
            found += _asserted(test.code, {name, "candidate", *_parameters(test.code)})
        else:
            return None
    shapes = {(len(each.args), each.names) for each in found}
    if len(functions) != 1 or len(shapes) != 1 or not found[0].args:
        return None
    like = next(each for each in tests if each.role == "scored")
    assert isinstance(like, CallTest | AssertTest)
    return Calls(functions.pop(), tuple(found), like)


def examples_in(text: str, function: str, arguments: int) -> list[tuple[Any, ...]]:
    """Return the arguments of the calls in a statement, such as `>>> double(2)`; they show which values are meant.

    Args:
        text: The statement.
        function: Name of the function; of a method the part behind the dot counts.
        arguments: How many arguments the function has.
    """
    found = []
    for place in re.finditer(rf"\b{re.escape(function.rpartition('.')[2])}\(", text):
        call = _balanced(text, place.start(), place.end())
        try:
            parsed = ast.parse(call, mode="eval").body
            args = tuple(ast.literal_eval(each) for each in getattr(parsed, "args", ()))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        if len(args) == arguments:
            found.append(args)
    return found


def _balanced(text: str, start: int, inside: int) -> str:
    """The text up to the bracket that closes the one before `inside`, if it is near; brackets in texts count."""
    depth = 1
    for place in range(inside, min(len(text), inside + MOST_EXAMPLE)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return text[start : place + 1]
    return ""


def _function_of(test: AssertTest) -> str:
    """The function that a test program calls, a method as `Class.method`; empty if it is neither."""
    name = test.entry_point or _asserted_name(test.code)
    method = re.fullmatch(r"(\w+)\(\)\.(\w+)", name)
    return f"{method[1]}.{method[2]}" if method else name if name.isidentifier() else ""


def _asserted_name(code: str) -> str:
    """The function of a test program that is one assertion; empty if it is not."""
    found = re.match(r"\s*assert\s+(?:abs\(\s*)?([A-Za-z_]\w*)\(", code)
    return found[1] if found else ""


def _parameters(code: str) -> Iterator[str]:
    """The name by which `check` knows the function."""
    for each in ast.walk(_parsed(code)):
        if isinstance(each, ast.FunctionDef) and each.name == "check" and len(each.args.args) == 1:
            yield each.args.args[0].arg


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _asserted(code: str, names: Set[str]) -> list[GivenCall]:
    """The plain assertions of a test program on a function with one of these names; others are skipped."""
    found = [_call(each.test, names) for each in ast.walk(_parsed(code)) if isinstance(each, ast.Assert)]
    return [each for each in found if each is not None]


def _without_tolerance(asserted: ast.expr) -> ast.expr:
    if not isinstance(asserted, ast.Compare) or not isinstance(asserted.ops[0], ast.Lt | ast.LtE):
        return asserted
    distance = asserted.left
    if not isinstance(distance, ast.Call) or getattr(distance.func, "id", "") != "abs" or len(distance.args) != 1:
        return asserted
    difference = distance.args[0]
    if not isinstance(difference, ast.BinOp) or not isinstance(difference.op, ast.Sub):
        return asserted
    return ast.Compare(difference.left, [ast.Eq()], [difference.right])


def _call(asserted: ast.expr, names: Set[str]) -> GivenCall | None:
    """`f(…) == value`, `f(…)`, or `abs(f(…) - value) < tolerance`; all arguments by place, or all by name."""
    asserted = _without_tolerance(asserted)
    if isinstance(asserted, ast.Compare) and len(asserted.ops) == 1 and isinstance(asserted.ops[0], ast.Eq | ast.Is):
        called, wanted = asserted.left, asserted.comparators[0]
    else:
        called, wanted = asserted, ast.Constant(value=True)
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
        return None
    passed_by = tuple(each.arg for each in called.keywords if each.arg is not None)
    if called.keywords and (called.args or len(passed_by) < len(called.keywords)):
        return None
    passed = [*called.args, *(each.value for each in called.keywords)]
    if called.func.id not in names:
        return None
    try:
        return GivenCall(tuple(ast.literal_eval(each) for each in passed), ast.literal_eval(wanted), passed_by)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
