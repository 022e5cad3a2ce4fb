"""Checkers that a model writes, for problems with several right answers and no checker.

A checker is kept only if the problem's own programs confirm it: it accepts the outputs of all references that end
well, refuses all programs that are known to be wrong and all probes, and refuses changed answers. It runs in a box of
its own, as every judge program does. A confirmed checker may still be wrong where no program of the problem shows it,
so the clean line and the manifest name it as generated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from sandbox_service.errors import BadRequestError
from sandbox_service.formats.problem import Problem
from sandbox_service.judging.extraction import extract
from sandbox_service.schema import FailureKind, Grade, JudgeProgram, StdinTest, Verdict
from sandbox_service.validation import evidence
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding, quarantine_causes
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.known_checkers import FUNCTION
from sandbox_service.validation.model import Messages, ModelRefusedError
from sandbox_service.validation.probes import MOST_BYTES
from sandbox_service.validation.recipe import CheckerModel, Recipe
from sandbox_service.validation.sampler import Sampler

CURED = {"needs_checker", "reference_fails"}  # what a checker can mend
MOST_ACCEPTED = 0.5  # share of changed answers of one kind that may be right by chance
MOST_EXAMPLE = 2000  # characters of an input or an output in the prompt

_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
_PROMPT = """The problem below has more than one right answer. Write a checker for it: a Python function

def check(input, output, answer):

`input` is the text of a test's input. `output` is the text that a program printed. `answer` is one right output. All
three are strings. The function returns True if `output` is a right answer to `input`, otherwise False.

It must decide by the rules of the problem, not by comparing texts: read `input`, verify that `output` has the form
that the problem asks for and meets every condition, and use `answer` only for values that all right answers share, such
as an optimal value, or whether a solution exists. `output` is not trusted: anything missing, additional or malformed is
False, and no output may raise an exception or take long. Use only the standard library, and no files. Answer with one
block of Python code.

## Problem

{statement}

## An input

{input}

## A right output

{output}"""


def is_wanted(problem: Problem, found: Evidence, findings: Sequence[Finding], recipe: Recipe) -> bool:
    """Return whether a checker could make the problem clean, and its references could confirm one.

    Args:
        problem: The problem.
        found: The runs of its programs.
        findings: The findings without a checker.
        recipe: Its severities apply.
    """
    causes = {each.name for each in quarantine_causes(findings, recipe.severity)}
    has_one_answer = all(isinstance(each, StdinTest) and isinstance(each.output, str) for each in problem.tests or ())
    return "needs_checker" in causes and causes <= CURED and has_one_answer and bool(_ended(found))


class CheckerWriter:
    """Asks a model for checkers, and tries them.

    Args:
        wanted: How many checkers to try.
        sampler: Asks the model.
        judge: Grades the programs.
        recipe: Its thresholds apply.
    """

    def __init__(self, wanted: CheckerModel, sampler: Sampler, judge: Judge, recipe: Recipe) -> None:
        self._wanted = wanted
        self._sampler = sampler
        self._judge = judge
        self._recipe = recipe

    async def write(self, problem: Problem, other: Problem | None, found: Evidence) -> tuple[Problem, Evidence] | None:
        """Return the problem with the first checker that is confirmed, and all runs under it; None if none is.

        Args:
            problem: A problem for which `is_wanted` holds.
            other: Another problem, whose solution is tried on this one; or None.
            found: The runs without a checker.

        Raises:
            ConfigurationError: The model refuses every prompt.
            UnavailableError: The judge or the model stayed away for too long.
        """
        for number in range(self._wanted.programs):
            try:
                said = await self._sampler.completion(messages(problem), number)
            except ModelRefusedError:
                return None
            source = extract(said.text, "last_block", "python")
            if source is None or not FUNCTION.search(source):
                continue
            program = JudgeProgram(type="program", protocol="function", source=source)
            candidate = problem.model_copy(update={"checker": program})
            if not await self._refuses_changed_answers(candidate):
                continue
            again = await evidence.gather(candidate, other, self._judge, self._recipe.thresholds)
            if is_confirmed(found, again):
                return candidate, again
        return None

    async def _refuses_changed_answers(self, problem: Problem) -> bool:
        assert problem.checker is not None
        tests = [each for each in problem.tests or () if isinstance(each, StdinTest)]
        tables = [each for each in changed_answers(tests) if len(_printing(tests, each)) <= MOST_BYTES]
        shared = {
            "tests": [each.model_dump(mode="json") for each in tests],
            "checker": problem.checker.model_dump(mode="json"),
            "stop_on_failure": False,
        }
        programs = [{"code": _printing(tests, each), "language": "python"} for each in tables]
        try:
            grades = await self._judge.grade(shared, programs)
        except BadRequestError:  # the source is too large, or no text
            return False
        return all(_is_refused(tests, answers, grade) for answers, grade in zip(tables, grades, strict=True))


def messages(problem: Problem) -> Messages:
    """Return the conversation that asks for a checker."""
    test = min((each for each in problem.tests or () if isinstance(each, StdinTest)), key=lambda each: len(each.input))
    shown = {"input": test.input[:MOST_EXAMPLE], "output": test.outputs[0][:MOST_EXAMPLE]}
    return [{"role": "user", "content": _PROMPT.format(statement=text_of(problem).strip(), **shown)}]


def changed_answers(tests: Sequence[StdinTest]) -> Iterator[list[str]]:
    """Yield kinds of changed answers, each a list with one for every test. Few of a kind can be right by chance."""
    answers = [each.outputs[0] for each in tests]
    yield ["" for _ in answers]
    yield [_without_last_word(each) for each in answers]
    yield [f"{each.rstrip()} {(each.split() or ['0'])[-1]}\n" for each in answers]
    yield [_NUMBER.sub(lambda found: str(int(found[0]) + 1), each) for each in answers]
    yield [*answers[1:], *answers[:1]]


def is_confirmed(before: Evidence, after: Evidence) -> bool:
    """Return whether the programs of a problem confirm its checker.

    Args:
        before: The runs without the checker.
        after: The runs under it.
    """
    if after.refusal is not None or any(_is_fault(run.grade) for run in after.runs):
        return False
    ended = _ended(before)
    accepted = {run.name for run in after.references if run.passed}
    return bool(ended) and ended <= accepted and not any(run.passed for run in after.of("wrong", "probe"))


def _ended(found: Evidence) -> set[str]:
    """The names of the references that ran to their end, with whatever answers."""
    return {run.name for run in found.references if run.grade.verdict in (Verdict.AC, Verdict.WA)}


def _is_fault(grade: Grade) -> bool:
    return grade.verdict == Verdict.IE or grade.failure_kind == FailureKind.BAD_CHECKER


def _is_refused(tests: Sequence[StdinTest], answers: Sequence[str], grade: Grade) -> bool:
    """Return whether most of the answers are refused that differ from the right one, and the checker never failed."""
    if _is_fault(grade):
        return False
    differing = [
        each.verdict for each in grade.tests if answers[each.index].split() != tests[each.index].outputs[0].split()
    ]
    return differing.count(Verdict.AC) <= MOST_ACCEPTED * len(differing)


def _without_last_word(text: str) -> str:
    words = text.split()
    return text.rstrip().removesuffix(words[-1]) if words else text


def _printing(tests: Sequence[StdinTest], answers: Sequence[str]) -> str:
    """A program that prints the answer that belongs to its input."""
    table = {
        hashlib.sha256(test.input.encode()).hexdigest(): answer for test, answer in zip(tests, answers, strict=True)
    }
    key = "hashlib.sha256(sys.stdin.buffer.read()).hexdigest()"
    return f"import hashlib, sys\nsys.stdout.write({table!r}.get({key}, ''))"
