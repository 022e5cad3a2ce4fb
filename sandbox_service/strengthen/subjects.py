"""Subjects: the parts that differ between problems that read stdin and problems whose tests are calls.

A subject makes inputs like the given ones, asks a reference for its answers, makes tests of inputs and answers, and
makes tables of the given tests.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram, StdinTest, TestCase
from sandbox_service.strengthen import tables
from sandbox_service.strengthen.call_subject import CallSubject
from sandbox_service.strengthen.calls import calls_of
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.validation.checks.prompt import interaction
from sandbox_service.validation.duplicates import text_of


class Subject(Protocol):
    """Makes inputs and tests for one problem."""

    @property
    def form(self) -> str:
        """Kind of knowledge about the inputs: form, tokens or arguments."""
        ...

    @property
    def unexplained(self) -> str:
        """A rule of the statement that nothing known about the inputs expresses; empty if there is none."""
        ...

    @property
    def most_seconds(self) -> float:
        """CPU seconds that a reference may take on a made input, at most."""
        ...

    def made(self, wanted: Wanted) -> list[Made]:
        """Return the inputs of a round, always the same ones.

        Args:
            wanted: How many, and which earlier ones were doubted.
        """
        ...

    def large(self, wanted: Wanted, names: Container[str] | None = None, shrunk: int = 1) -> list[Made]:
        """Return inputs on which slow programs take too long, each of a tier of its own.

        Args:
            wanted: Has the size of the largest one.
            names: Only those of these tiers; None for all.
            shrunk: How much smaller numbers are, where inputs have no length.
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


WHOLE = 1.0  # the full score of a checker that gives no points


def _unjudged(problem: Problem, checker: JudgeProgram) -> str:
    """Return why the problem's checker program cannot judge further tests; empty if it can."""
    tests = [each for each in problem.tests or () if isinstance(each, StdinTest)]
    if len(tests) < len(problem.tests or ()):
        return "a checker program judges tests of other kinds than stdin"
    if any(each.judge_arguments for each in tests):
        return "its checker program gets arguments for each test"
    has_points = checker.full_score != WHOLE or any(each.full_score is not None for each in tests)
    return "its checker program gives points" if has_points else ""


def subject_of(problem: Problem) -> Subject | str:
    """Return the subject of a problem, or the reason if there is none."""
    tests = problem.tests or []
    if problem.interactor is not None:
        return "the problem is interactive"
    if problem.groups:
        return "its tests are scored in groups"
    if isinstance(problem.checker, JudgeProgram) and (reason := _unjudged(problem, problem.checker)):
        return reason
    stdin = [each for each in tests if isinstance(each, StdinTest)]
    if stdin and len(stdin) == len(tests):
        if problem.language == "text":
            return "its answers are text"
        if interaction(text_of(problem)) is not None:
            return "its statement is interactive, and it has no interactor"
        return StdinSubject(problem, stdin)
    if problem.language != "python":
        return "its functions are not in Python"
    calls = calls_of(tests)
    return "its tests are not plain calls of one function" if calls is None else CallSubject(problem, calls)
