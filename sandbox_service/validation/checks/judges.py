"""Checks the judge programs of a problem: that they do not fail, and neither accept nor refuse everything."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import FailureKind, JudgeProgram, Verdict
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe


def judges_of(problem: Problem) -> list[JudgeProgram]:
    """Return the judge programs that the problem has."""
    return [each for each in (problem.checker, problem.interactor) if isinstance(each, JudgeProgram)]


def do_not_fail(problem: Problem, evidence: Evidence, _: Recipe) -> Iterator[Finding]:
    """Yield a finding if a judge failed on a reference's output, or crashed on a wrong one's."""
    for run in evidence.runs if judges_of(problem) else ():
        if run.grade.failure_kind == FailureKind.BAD_CHECKER:
            yield Finding("bad_checker", f"{run.name}: {run.grade.failure_reason}")
            return


def tell_right_from_wrong(problem: Problem, evidence: Evidence, _: Recipe) -> Iterator[Finding]:
    """Yield a finding if all programs that ran to their end got the same verdict, although some are wrong."""
    if not judges_of(problem):
        return
    right = [run.grade.verdict for run in evidence.references]
    wrong = [run.grade.verdict for run in evidence.of("wrong", "probe")]
    if right and Verdict.AC not in right and Verdict.WA in right:
        yield Finding("checker_accepts_nothing", "the judge refuses every reference solution")
    if wrong and all(verdict == Verdict.AC for verdict in wrong):
        yield Finding("checker_accepts_all", f"the judge accepts all {len(wrong)} programs that are wrong")
