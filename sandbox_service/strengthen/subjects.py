"""Subjects: what differs between problems that read stdin and problems whose tests are calls.

A subject makes inputs like the given ones, asks a reference for its answers, makes tests of inputs and answers, and
makes tables of the given tests.
"""

from __future__ import annotations

import ast
import json
import math
import random
from collections.abc import Iterator, Sequence, Set
from typing import Any, Protocol

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, Checker, StdinTest, TestCase
from sandbox_service.strengthen import tables
from sandbox_service.strengthen.arguments import PATTERNS, Arguments
from sandbox_service.strengthen.calls import Calls, calls_of, examples_in, is_row_of_reals
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import LEAST_JUDGES, SEEN, WORDS, Made, Tier, Wanted
from sandbox_service.validation.duplicates import text_of

TRIES = 4  # for each input that is wanted
MARK = "proctor-result:"

_DRIVER = """
import ast as _ast, sys as _sys
_found = {called}(*_ast.literal_eval(_sys.stdin.read()))
print()
print({mark!r} + repr(_found))
"""


class Subject(Protocol):
    """Makes inputs and tests for one problem."""

    @property
    def form(self) -> str:
        """Kind of knowledge about the inputs: form, tokens or arguments."""
        ...

    def made(self, wanted: Wanted) -> list[Made]:
        """Return the inputs of a round, always the same ones.

        Args:
            wanted: How many, and which earlier ones were doubted.
        """
        ...

    @property
    def printed(self) -> str:
        """Words for an input, to ask for programs that print one."""
        ...

    @property
    def example(self) -> str:
        """An input of the given tests, as such a program prints it."""
        ...

    def admitted(self, text: str, *, judges: int) -> str | None:
        """Return an input that a program printed, in the form of `Made.text`, or None if it cannot be believed.

        With enough references to judge it, every input is admitted that can be read. With fewer, it must agree with all
        that is known about the given inputs.

        Args:
            text: What was printed.
            judges: How many references will judge it.
        """
        ...

    def asking(self, reference: Program) -> Program:
        """Return a program that reads an input from stdin and prints the reference's answer."""
        ...

    def test(self, made: Made, output: str) -> TestCase | None:
        """Return the test of an input and the output of `asking`, or None if it makes none."""
        ...

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """Return the same tests in as few as can be graded at once."""
        ...

    def merged_audit(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """Return the same tests in as few as can be graded at once, in the form that costs least."""
        ...

    def tables(self) -> list[tables.Table]:
        """Return programs that know the given tests."""
        ...


def subject_of(problem: Problem) -> Subject | str:
    """Return the subject of a problem, or the reason if there is none."""
    tests = problem.tests or []
    if problem.interactor is not None:
        return "the problem is interactive"
    if problem.groups:
        return "its tests are scored in groups"
    if not isinstance(problem.checker or Checker(), Checker):
        return "a checker program judges it"
    stdin = [each for each in tests if isinstance(each, StdinTest)]
    if stdin and len(stdin) == len(tests):
        if problem.language == "text":
            return "its answers are text"
        return StdinSubject(problem, stdin)
    if problem.language != "python":
        return "its functions are not in Python"
    calls = calls_of(tests)
    return "its tests are not plain calls of one function" if calls is None else CallSubject(problem, calls)


class CallSubject:
    """Functions in Python that are called with plain arguments."""

    def __init__(self, problem: Problem, calls: Calls) -> None:
        self._problem, self._calls = problem, calls

    @property
    def form(self) -> str:
        """See `Subject`."""
        return "arguments"

    def made(self, wanted: Wanted) -> list[Made]:
        """See `Subject`. Arguments stay within what was seen, however many references there are."""
        if wanted.is_enough:
            return []
        makers = self._makers(wanted)
        known = {repr(list(each.args)) for each in self._calls.given}
        found: dict[str, Made] = {}
        tries = wanted.count * TRIES
        for number in range(wanted.round * tries, (wanted.round + 1) * tries):
            tier, arguments = makers[number % len(makers)]
            text = repr(arguments.make(number, random.Random(f"{self._problem.id} {number}")))  # noqa: S311
            if text not in known and len(text) <= wanted.most_bytes:
                how = f"arguments, {PATTERNS[number % len(PATTERNS)]}"
                found.setdefault(text, Made(text, how if tier == SEEN else f"{tier.name}: {how}", tier.name))
            if len(found) == wanted.count:
                break
        return list(found.values())

    def _makers(self, wanted: Wanted) -> list[tuple[Tier, Arguments]]:
        """The tiers that are not doubted, which take turns; the usual one if all are."""
        found = [(SEEN, self._arguments()), (WORDS, self._arguments(of_words=True))]
        if not found[0][1].has_words:
            return found[:1]
        return [each for each in found if each[0].name not in wanted.doubted] or found[:1]

    def _arguments(self, *, of_words: bool = False) -> Arguments:
        said = examples_in(text_of(self._problem), self._calls.function, len(self._calls.given[0].args))
        return Arguments([each.args for each in self._calls.given] + said, of_words=of_words)

    @property
    def printed(self) -> str:
        """See `Subject`."""
        return f"the arguments of one call of `{self._calls.function}`, as a Python list of literals on one line"

    @property
    def example(self) -> str:
        """See `Subject`."""
        return repr(list(self._calls.given[0].args))

    def admitted(self, text: str, *, judges: int) -> str | None:
        """See `Subject`."""
        try:
            args = ast.literal_eval(text.strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        if not isinstance(args, list) or len(args) != len(self._calls.given[0].args):
            return None
        return repr(args) if judges >= LEAST_JUDGES or self._arguments().fits(args) else None

    def asking(self, reference: Program) -> Program:
        """See `Subject`."""
        owner, _, method = self._calls.function.rpartition(".")
        called = f"{owner}().{method}" if owner else method
        prelude = self._calls.like.prelude if isinstance(self._calls.like, AssertTest) else None
        head = f"__name__ = 'solution'\n{prelude or ''}\n"
        if "from __future__" in reference.code:
            head = ""
        code = f"{head}{reference.code}\n{_DRIVER.format(called=called, mark=MARK)}"
        return Program(reference.kind, reference.name, code, reference.language)

    def test(self, made: Made, output: str) -> TestCase | None:
        """See `Subject`."""
        _, mark, said = output.rpartition(MARK)
        if not mark:
            return None
        try:
            args, result = ast.literal_eval(made.text), ast.literal_eval(said.strip())
            if isinstance(self._calls.like, CallTest):
                result = json.loads(json.dumps(result, allow_nan=False))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        known = set(_reals_in(args))
        is_near = isinstance(self._calls.like, AssertTest) and is_row_of_reals(result)
        is_sound = result is not None and (is_near or _is_comparable(result, known))
        return self._calls.test(args, result) if is_sound else None

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return self._calls.merged(tests)

    def merged_audit(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return self._calls.table(tests)

    def tables(self) -> list[tables.Table]:
        """See `Subject`."""
        return tables.of_calls(self._calls.function, self._calls.given)


def _is_comparable(value: Any, known: Set[float]) -> bool:
    """Return whether == compares a result safely.

    Args:
        value: A real number on its own is, since a tolerance is set, and inside others if it is one of the arguments'.
        known: Real numbers of the arguments.
    """
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_inside(each, known) for each in (*value, *value.values()))
    if isinstance(value, list | tuple | set):
        return all(_is_inside(each, known) for each in value)
    return True


def _is_inside(value: Any, known: Set[float]) -> bool:
    return value in known if isinstance(value, float) else _is_comparable(value, known)


def _reals_in(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        yield from _reals_in([*value, *value.values()])
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _reals_in(each)
