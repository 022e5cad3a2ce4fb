"""Subjects: what differs between problems that read stdin and problems whose tests are calls.

A subject makes inputs like the given ones, asks a reference for its answers, makes tests of inputs and answers, and
makes tables of the given tests.
"""

from __future__ import annotations

import ast
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, Checker, StdinTest, TestCase
from sandbox_service.strengthen import tables
from sandbox_service.strengthen.arguments import PATTERNS, Arguments
from sandbox_service.strengthen.calls import Calls, calls_of, examples_in
from sandbox_service.strengthen.facts import facts_of, without_ranges
from sandbox_service.strengthen.form import Form, trimmed
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.inputs import Maker, UnmadeError, plans
from sandbox_service.strengthen.ranges import LEAST_JUDGES, ranges_of
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.token_changes import changed
from sandbox_service.validation.duplicates import text_of

TRIES = 4  # for each input that is wanted
TIERS = ("seen", "wider", "far")  # with enough references, inputs take turns: ranges as seen, wider ones, far ones
FAR = (10**3, 10**5, 10**9)  # greatest numbers of inputs far beyond those seen, in turn
CHANGED = 6  # every sixth input is a given one with some tokens changed
MARK = "proctor-result:"

_DRIVER = """
import ast as _ast, sys as _sys
_found = {called}(*_ast.literal_eval(_sys.stdin.read()))
print()
print({mark!r} + repr(_found))
"""


@dataclass(frozen=True, slots=True)
class Made:
    """An input that was made. `text` is stdin, or the arguments of a call as a Python literal.

    Inputs of one `tier` are made under the same assumptions, and doubted together.
    """

    text: str
    how: str
    tier: str = TIERS[0]


class Subject(Protocol):
    """Makes inputs and tests for one problem."""

    @property
    def form(self) -> str:
        """Kind of knowledge about the inputs: form, tokens or arguments."""
        ...

    def made(self, count: int, *, judges: int, most_bytes: int) -> list[Made]:
        """Return inputs, always the same ones.

        Args:
            count: At most so many.
            judges: How many references will judge the inputs.
            most_bytes: Size of the largest one.
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


class StdinSubject:
    """Whole programs that read stdin."""

    def __init__(self, problem: Problem, tests: Sequence[StdinTest]) -> None:
        self._problem, self._tests = problem, tests
        self._inputs = [each.input for each in tests]
        self._form = form_of(self._inputs)

    @property
    def form(self) -> str:
        """See `Subject`."""
        return "form" if self._form else "tokens"

    def made(self, count: int, *, judges: int, most_bytes: int) -> list[Made]:
        """See `Subject`."""
        found: dict[str, Made] = {}
        known = {" ".join(each.split()) for each in self._inputs}
        for made in self._candidates(count * TRIES, judges=judges, most_bytes=most_bytes):
            if " ".join(made.text.split()) not in known and len(made.text.encode()) <= most_bytes:
                found.setdefault(made.text, made)
            if len(found) == count:
                break
        return list(found.values())

    def _candidates(self, tries: int, *, judges: int, most_bytes: int) -> Iterator[Made]:
        form, seen = self._form, self._maker(judges=1, most_bytes=most_bytes)
        wider = self._maker(judges=judges, most_bytes=most_bytes)
        far = [self._maker(judges=judges, most_bytes=most_bytes, most=most) for most in FAR]
        for number, plan in zip(range(tries), plans(), strict=False):
            chance = random.Random(f"{self._problem.id} {number}")  # noqa: S311
            if form is None or seen is None or number % CHANGED == CHANGED - 1:
                text = changed(self._inputs, number, chance)
                if form is None or form.fits(text):
                    yield Made(text, "changed tokens", "changed")
                continue
            try:
                tier = TIERS[number % len(TIERS)] if judges >= LEAST_JUDGES else TIERS[0]
                chosen = {"wider": wider, "far": far[number // len(TIERS) % len(FAR)]}.get(tier) or seen
                yield Made(chosen.make(plan, chance), plan.name, tier)
            except UnmadeError:
                continue

    def _maker(self, *, judges: int, most_bytes: int, most: int = 0) -> Maker | None:
        """A maker of inputs like the given ones; with `most` a loose one."""
        if self._form is None:
            return None
        facts = facts_of(self._form, self._inputs)
        ranges = ranges_of(self._form, facts, text_of(self._problem), judges=judges, most=most)
        return Maker(self._form, facts, ranges, is_strict=not most, most_bytes=most_bytes)

    @property
    def printed(self) -> str:
        """See `Subject`."""
        return "one input of the problem, as a solution reads it from standard input"

    @property
    def example(self) -> str:
        """See `Subject`."""
        return min(self._inputs, key=len)

    def admitted(self, text: str, *, judges: int) -> str | None:
        """See `Subject`."""
        text = trimmed(text) + "\n"
        if judges >= LEAST_JUDGES:
            return text
        form = self._form
        return text if form is not None and form.fits(text) and self._is_like_the_given(form, text) else None

    def _is_like_the_given(self, form: Form, text: str) -> bool:
        """Return whether all facts of the given inputs hold in this one, within their ranges or the statement's."""
        known, found = facts_of(form, self._inputs), facts_of(form, [*self._inputs, text])
        ranges = ranges_of(form, known, text_of(self._problem), judges=1)
        are_within = all(
            ranges[slot].low <= each.low and each.high <= ranges[slot].high for slot, each in found.slots.items()
        )
        return are_within and without_ranges(found) == without_ranges(known)

    def asking(self, reference: Program) -> Program:
        """See `Subject`."""
        return reference

    def test(self, made: Made, output: str) -> TestCase | None:
        """See `Subject`."""
        return StdinTest(input=made.text, output=output) if output.strip() else None

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return list(tests)

    def tables(self) -> list[tables.Table]:
        """See `Subject`."""
        return tables.of_inputs([(each.input, each.outputs[0]) for each in self._tests])


class CallSubject:
    """Functions in Python that are called with plain arguments."""

    def __init__(self, problem: Problem, calls: Calls) -> None:
        self._problem, self._calls = problem, calls

    @property
    def form(self) -> str:
        """See `Subject`."""
        return "arguments"

    def made(self, count: int, *, judges: int, most_bytes: int) -> list[Made]:
        """See `Subject`."""
        del judges  # arguments stay within what was seen
        arguments = self._arguments()
        known = {repr(list(each.args)) for each in self._calls.given}
        found: dict[str, Made] = {}
        for number in range(count * TRIES):
            text = repr(arguments.make(number, random.Random(f"{self._problem.id} {number}")))  # noqa: S311
            if text not in known and len(text) <= most_bytes:
                found.setdefault(text, Made(text, f"arguments, {PATTERNS[number % len(PATTERNS)]}"))
            if len(found) == count:
                break
        return list(found.values())

    def _arguments(self) -> Arguments:
        said = examples_in(text_of(self._problem), self._calls.function, len(self._calls.given[0].args))
        return Arguments([each.args for each in self._calls.given] + said)

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
        return self._calls.test(args, result) if result is not None and _is_comparable(result) else None

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return self._calls.merged(tests)

    def tables(self) -> list[tables.Table]:
        """See `Subject`."""
        return tables.of_calls(self._calls.function, self._calls.given)


def _is_comparable(value: Any) -> bool:
    """Return whether == compares a result safely: real numbers only on their own, where a tolerance is set."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_comparable(each) and not isinstance(each, float) for each in (*value, *value.values()))
    if isinstance(value, list | tuple | set):
        return all(_is_comparable(each) and not isinstance(each, float) for each in value)
    return True
