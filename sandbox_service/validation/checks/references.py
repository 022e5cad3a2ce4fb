"""Checks that the reference solutions pass every test, again and with other seeds."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import FailureKind, StdinTest, Verdict
from sandbox_service.validation.checks.comparison import describe, passes_under_what, strictest
from sandbox_service.validation.evidence import Evidence, Run
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe


def can_be_judged(_: Problem, evidence: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if the judge refused the problem or could not judge a run."""
    if evidence.refusal is not None:
        yield Finding("refused", evidence.refusal)
    for run in evidence.runs:
        if run.grade.failure_kind == FailureKind.BAD_TEST:
            yield Finding("bad_test", run.grade.failure_reason or "a test cannot be run")
            break
    if faults := evidence.faults:
        yield Finding("not_judged", f"{len(faults)} of {len(evidence.runs)} runs: {faults[0].grade.failure_reason}")


def are_there(problem: Problem, evidence: Evidence, _: Recipe) -> Iterator[Finding]:
    """Yield a finding if there is no reference: nothing then shows that the tests can be passed."""
    languages = ", ".join(evidence.not_run)
    if not evidence.references and evidence.refusal is None:
        beside = f": those there are, are in {languages}" if problem.references and languages else ""
        yield Finding("no_reference", f"no reference solution that can be run here{beside}")
    if evidence.not_run:
        yield Finding("not_run", f"solutions in {languages}")


def pass_every_test(problem: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding for references that fail.

    Excepted are references that are only too slow while another one passes, and those that a looser checker accepts.
    """
    failed = [each for each in evidence.references if each.failed and each.grade.verdict != Verdict.TLE]
    if not failed or passes_under_what(problem, evidence, recipe) is not None:
        return
    total = len(evidence.references)
    which = failed[0].name if total == 1 else f"{len(failed)} of {total} references fail; {failed[0].name}"
    agreed = f"; {_agreement(problem, failed)}" if len(failed) > 1 else ""
    found = strictest(problem, evidence, recipe.checker)
    hint = f"; it would pass under {describe(found)}" if found else ""
    yield Finding("reference_fails", f"{which}: {what_failed(failed[0])}{agreed}{hint}")


def give_the_same_answer_again(_: Problem, evidence: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if a reference that passed fails when run again, unchanged or with another seed."""
    for run in evidence.of("again"):
        if run.failed:
            yield Finding("unstable", f"{run.name} passed once, and then not: {what_failed(run)}")
            return
    controls = {each.name for each in evidence.of("seed") if each.seed == 0 and each.passed}
    for run in evidence.of("seed"):
        if run.seed and run.grade.verdict == Verdict.WA and run.name in controls:
            yield Finding("unstable", f"{run.name} gives another answer with hash seed {run.seed}: {what_failed(run)}")
            return


def what_failed(run: Run) -> str:
    """Return the verdict of a run and the test where it failed."""
    grade = run.grade
    failed = next((each for each in grade.tests if each.verdict not in (Verdict.AC, Verdict.IE)), None)
    if failed is None:
        return f"{grade.verdict}: {grade.message or 'no reason is given'}"
    place = f"test {failed.index + 1} of {grade.total}"
    return f"{grade.verdict} on {place}: {failed.message or grade.message or 'no reason is given'}"


def _agreement(problem: Problem, failed: list[Run]) -> str:
    """Return True if the failing references agree with each other: then the test is wrong."""
    if not all(isinstance(each, StdinTest) for each in problem.tests or ()):
        return "more than one fails"
    outputs = {tuple(tuple(each.stdout.split()) for each in run.grade.tests) for run in failed}
    return "they agree with each other, so it is the test that is wrong" if len(outputs) == 1 else "they disagree"
