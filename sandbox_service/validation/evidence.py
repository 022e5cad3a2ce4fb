"""Runs the programs of a problem and collects the grades, from which the checks draw conclusions.

First the references run with a generous time limit, and those with a wrong answer to a call run again with comparisons
that ignore the order of items. The time limit of the problem follows from the references. Under this limit run the
references again (unchanged, and with other hash seeds), the solutions that are known to be wrong, and the probes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox_service import languages
from sandbox_service.errors import BadRequestError, UnsupportedLanguageError
from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.languages import toolchains
from sandbox_service.schema import AssertTest, CallTest, Checker, Grade, Limits, ReferenceTime, TestCase, Verdict
from sandbox_service.validation import assertions, probes, seeds
from sandbox_service.validation.judge import Fields, Judge, is_fault
from sandbox_service.validation.recipe import Thresholds

Role = Literal["reference", "any_order", "again", "seed", "wrong", "probe"]
STEP_SECONDS = 0.5
LEAST_REFERENCE_SECONDS = 0.05  # a start of the interpreter on a busy machine
ANEW = "once more: a program that was graded before may be answered for from memory"
COMMENTS = {"python": "#", "pypy": "#", "ruby": "#", "bash": "#", "lua": "--", "sql": "--"}  # the others: //


def anew(code: str, language: str) -> str:
    """Return a program with a comment behind it, which makes it another one to everything that remembers programs.

    Args:
        code: The program.
        language: The name of its language.
    """
    return f"{code}\n{COMMENTS.get(languages.find(language).name, '//')} {ANEW}\n"


@dataclass(frozen=True, slots=True)
class Run:
    """One program against all tests."""

    role: Role
    name: str
    grade: Grade
    solution: Solution | None = None
    seed: int | None = None

    @property
    def passed(self) -> bool:
        """True if the program passed every test."""
        return self.grade.verdict == Verdict.AC

    @property
    def failed(self) -> bool:
        """True if the program failed; false if the judge has no verdict."""
        return self.grade.verdict not in (Verdict.AC, Verdict.IE)

    @property
    def slowest_seconds(self) -> float:
        """CPU seconds of the slowest test."""
        return max((each.cpu_seconds for each in self.grade.tests), default=0.0)


@dataclass(frozen=True)
class Evidence:
    """All runs, the limits that follow from them, and the reason if the judge refused the problem."""

    runs: Sequence[Run] = ()
    limits: Limits | None = None
    refusal: str | None = None
    not_run: Sequence[str] = field(default_factory=list)
    other: str = ""  # the id of the problem whose solution was tried as well

    def of(self, *roles: Role) -> list[Run]:
        """Return the runs of these roles."""
        return [each for each in self.runs if each.role in roles]

    @property
    def references(self) -> list[Run]:
        """First runs of the references."""
        return self.of("reference")

    @property
    def faults(self) -> list[Run]:
        """Runs that the judge could not judge."""
        return [each for each in self.runs if is_fault(each.grade)]


def can_be_run(language: str) -> bool:
    """Return whether the judge runs solutions in this language."""
    try:
        return toolchains.is_present(languages.find(language))
    except UnsupportedLanguageError:
        return False


async def gather(problem: Problem, other: Problem | None, judge: Judge, thresholds: Thresholds) -> Evidence:
    """Run all programs of a problem.

    Args:
        problem: The problem with the tests to run.
        other: Another problem, whose solution is tried on this one; or None.
        judge: Grades the programs.
        thresholds: The recipe's thresholds.

    Returns:
        The results of all runs.

    Raises:
        UnavailableError: The judge stayed away for too long.
    """
    work = _Work(problem, judge, thresholds)
    name = other.id if other else ""
    code = other.references[0].code if other and other.references else None
    try:
        await work.run_references()
        await work.run_without_order()
        await work.run_the_rest(code)
    except BadRequestError as error:
        return Evidence(work.runs, work.limits, str(error), work.not_run, name)
    return Evidence(work.runs, work.limits, None, work.not_run, name)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A run that is to be made."""

    role: Role
    name: str
    code: str
    language: str
    solution: Solution | None = None
    seed: int | None = None
    limits: Limits | None = None

    def fields(self) -> dict[str, Any]:
        """Return its fields of a batch request."""
        limits = {"limits": self.limits.model_dump(mode="json")} if self.limits else {}
        return {"code": self.code, "language": self.language, **limits}


class _Work:
    def __init__(self, problem: Problem, judge: Judge, thresholds: Thresholds) -> None:
        self._problem = problem
        self._judge = judge
        self._thresholds = thresholds
        self.runs: list[Run] = []
        self.not_run = sorted({each.language for each in problem.solutions if not can_be_run(each.language)})
        self.limits = problem.limits or Limits()

    async def run_references(self) -> None:
        """Run the references with a generous limit. One with a wrong answer runs again to its end, so that all
        answers are known.
        """
        references = [each for each in self._problem.references if can_be_run(each.language)]
        planned = [
            _planned("reference", each, _name(each, place, "reference"))
            for place, each in enumerate(references[: self._thresholds.most_references], 1)
        ]
        measured = self._with(max(self._thresholds.measured_seconds, self.limits.cpu_seconds))
        runs = await self._run(planned, measured)
        wrong = [place for place, run in enumerate(runs) if run.grade.verdict == Verdict.WA]
        whole = await self._run([planned[place] for place in wrong], measured, to_the_end=True)
        for place, run in zip(wrong, whole, strict=True):
            runs[place] = run if run.grade.verdict != Verdict.IE else runs[place]
        self.runs += runs
        self.limits = self._measured_limits()

    async def run_without_order(self) -> None:
        """Run references with a wrong answer against tests that ignore order. Only those that pass are kept as
        evidence.
        """
        wrong = [each for each in self.runs if each.grade.verdict == Verdict.WA and each.solution is not None]
        tests = self._without_order() if wrong else None
        if tests is None:
            return
        planned = [_planned("any_order", each.solution, each.name) for each in wrong if each.solution is not None]
        runs = await self._run(planned, self._with(self._thresholds.measured_seconds), tests=tests)
        self.runs += [each for each in runs if each.passed]

    def _without_order(self) -> list[TestCase] | None:
        """The tests with comparisons that ignore order; None for other kinds of tests, or if no answer has items."""
        defined = [name for each in self._problem.references for name in probes.defined_in(each.code)]
        found: list[TestCase] = []
        is_looser = False
        for test in self._problem.tests or ():
            if not isinstance(test, AssertTest | CallTest) or (isinstance(test, CallTest) and test.calls is not None):
                return None
            plain = test if isinstance(test, AssertTest) else AssertTest(code=assertions.of_call(test, defined))
            looser = assertions.without_order(plain.code)
            is_looser = is_looser or looser is not None
            found.append(plain if looser is None else plain.model_copy(update={"code": looser}))
        return found if is_looser else None

    async def run_the_rest(self, other: str | None) -> None:
        """Run all other programs. If there are references and none passes, the tests prove nothing, and nothing
        runs.
        """
        passed = [each for each in self.runs if each.role == "reference" and each.passed]
        if self.runs and not passed:
            return
        planned = [*self._again(passed), *self._wrong(), *self._probes(other)]
        self.runs += await self._run(planned, self.limits)
        self.runs += await self._controls()

    def _again(self, passed: Iterable[Run]) -> Iterable[_Planned]:
        for run in passed:
            assert run.solution is not None
            code, language = run.solution.code, run.solution.language
            if language != "text":
                yield _Planned("again", run.name, anew(code, language), language, run.solution)
            for seed in self._thresholds.hash_seeds:
                yield from self._seeded(run.name, run.solution, seed)

    def _seeded(self, name: str, solution: Solution, seed: int) -> Iterable[_Planned]:
        code = seeds.with_seed(self._problem, solution.code, seed)
        if code is not None:
            limits = self._with(self.limits.cpu_seconds + seeds.START_SECONDS, processes=seeds.PROCESSES)
            yield _Planned("seed", name, code, solution.language, solution, seed, limits)

    async def _controls(self) -> list[Run]:
        """Repeat each run that failed with another seed with the judge's own, since the wrapper may be the cause."""
        suspects = [each for each in self.runs if each.role == "seed" and each.grade.verdict == Verdict.WA]
        planned = {each.name: list(self._seeded(each.name, each.solution, 0)) for each in suspects if each.solution}
        return await self._run([each for some in planned.values() for each in some], self.limits)

    def _wrong(self) -> Iterable[_Planned]:
        wrong = [each for each in self._problem.wrong if can_be_run(each.language)]
        for place, each in enumerate(wrong[: self._thresholds.most_wrong], 1):
            yield _planned("wrong", each, _name(each, place, "wrong solution"))

    def _probes(self, other: str | None) -> Iterable[_Planned]:
        for each in probes.of(self._problem, other):
            yield _Planned("probe", each.name, each.code, self._problem.language)

    def _measured_limits(self) -> Limits:
        """The limits that follow from the slowest passing reference; without one, the problem's own CPU limit."""
        slowest = max((each.slowest_seconds for each in self.runs if each.passed), default=None)
        if slowest is None:
            return self._with(self.limits.resolved().cpu_seconds)
        reference = reference_for(slowest, self._thresholds)
        return self._with(limit_for(slowest, self._thresholds), reference=reference)

    def _with(self, seconds: float, **more: Any) -> Limits:
        """The problem's limits, with another CPU time."""
        changes = {"cpu_seconds": seconds, "wall_seconds": None, "reference": None, **more}
        return self.limits.model_copy(update=changes)

    async def _run(
        self,
        planned: Sequence[_Planned],
        limits: Limits,
        *,
        to_the_end: bool = False,
        tests: Sequence[TestCase] | None = None,
    ) -> list[Run]:
        if not planned:
            return []
        shared: Fields = {
            "tests": [each.model_dump(mode="json") for each in tests or self._problem.tests or ()],
            "checker": (self._problem.checker or Checker()).model_dump(mode="json"),
            "interactor": self._problem.interactor.model_dump(mode="json") if self._problem.interactor else None,
            "limits": limits.model_dump(mode="json"),
            "stop_on_failure": not to_the_end,
        }
        grades = await self._judge.grade(shared, [each.fields() for each in planned])
        return [
            Run(each.role, each.name, grade, each.solution, each.seed)
            for each, grade in zip(planned, grades, strict=True)
        ]


def limit_for(slowest: float, thresholds: Thresholds) -> float:
    """Return the time limit for a problem, in half seconds so that repeated runs agree.

    Args:
        slowest: CPU seconds of the slowest reference that passes.
        thresholds: The recipe's factor and bounds.
    """
    wanted = max(slowest * thresholds.limit_factor, thresholds.least_limit_seconds)
    return min(math.ceil(wanted / STEP_SECONDS) * STEP_SECONDS, thresholds.most_limit_seconds)


def reference_for(slowest: float, thresholds: Thresholds) -> ReferenceTime:
    """Return the references' CPU time with the recipe's factor, coarsely, so that repeated runs agree.

    Args:
        slowest: CPU seconds of the slowest reference that passes.
        thresholds: The recipe's factor and bound.
    """
    steps = (step * 10**power for power in range(-2, 3) for step in (1, 2, 5))
    rounded = next((step for step in steps if step >= max(slowest, LEAST_REFERENCE_SECONDS)), slowest)
    return ReferenceTime(
        cpu_seconds=round(rounded, 2), factor=thresholds.limit_factor, least_seconds=thresholds.least_limit_seconds
    )


def _planned(role: Role, solution: Solution, name: str) -> _Planned:
    return _Planned(role, name, solution.code, solution.language, solution)


def _name(solution: Solution, place: int, kind: str) -> str:
    return solution.name or f"{kind} {place}"
