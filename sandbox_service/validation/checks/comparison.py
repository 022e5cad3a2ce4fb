"""Finds the checker under which the references pass, from their outputs, with the checkers that pay the reward.

Applies to tests on stdin: calls compare values, and test programs compare by themselves. If the judge cut an output for
display, nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandbox_service.formats.problem import Problem
from sandbox_service.judging.checkers import check_any
from sandbox_service.schema import Checker, StdinTest, Verdict
from sandbox_service.validation.checks.judges import judges_of
from sandbox_service.validation.evidence import Evidence, Run
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import CheckerPolicy, Recipe, Rung

RUNGS: tuple[Rung, ...] = ("exact", "lines", "tokens", "numbers", "ignore_case", "unordered_lines")


def fits(problem: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding if another checker than the problem's is right; the recipe's policy says which one is written."""
    found = strictest(problem, evidence, recipe.checker)
    if found is None:
        return
    own = problem.checker if isinstance(problem.checker, Checker) else Checker()
    chosen = passes_under_what(problem, evidence, recipe)
    if chosen is not None:
        yield Finding("looser_checker", f"the references pass under {describe(chosen)}, and not under {describe(own)}")
    elif _rank(found) < _rank(own) and all(each.passed for each in evidence.references):
        yield Finding("stricter_checker", f"the references pass under {describe(found)} as well")


def passes_under_what(problem: Problem, evidence: Evidence, recipe: Recipe) -> Checker | None:
    """Return the checker to be written because some reference passes only under it, or None."""
    if recipe.checker.policy == "keep" or not _has_wrong_answers_only(evidence):
        return None
    allowed = {_key(checker_of(each, recipe.checker)) for each in recipe.checker.allowed}
    found = strictest(problem, evidence, recipe.checker, recipe.checker.allowed)
    return found if found is not None and _key(found) in allowed else None


def proposed(problem: Problem, evidence: Evidence, recipe: Recipe) -> Checker | None:
    """Return the checker for the clean line, or None if the problem's own stays."""
    if recipe.checker.policy == "strictest":
        return strictest(problem, evidence, recipe.checker, recipe.checker.allowed)
    return passes_under_what(problem, evidence, recipe)


def strictest(
    problem: Problem, evidence: Evidence, policy: CheckerPolicy, rungs: Sequence[Rung] = RUNGS
) -> Checker | None:
    """Return the strictest checker under which all references pass that ran to their end.

    Args:
        problem: The problem.
        evidence: All runs.
        policy: Tolerance for numbers.
        rungs: Checkers to try, the strictest first.

    Returns:
        The checker, or None if the references fail under each.
    """
    if judges_of(problem):
        return None
    tests = problem.tests or []
    runs = [each for each in evidence.references if each.grade.verdict in (Verdict.AC, Verdict.WA)]
    if not runs or problem.language == "text" or not all(_is_whole(each, len(tests)) for each in runs):
        return None
    plain = [each for each in tests if isinstance(each, StdinTest)]
    if len(plain) < len(tests):
        return None
    for rung in sorted(rungs, key=RUNGS.index):
        checker = checker_of(rung, policy)
        if all(_passes(checker, run, plain) for run in runs):
            return checker
    return None


def checker_of(rung: Rung, policy: CheckerPolicy) -> Checker:
    """Return the checker for a rung of the ladder. `numbers` compares words, with a tolerance for numeric ones."""
    if rung == "numbers":
        return Checker(type="tokens", float_tolerance=policy.tolerance)
    if rung == "ignore_case":
        return Checker(type="tokens", float_tolerance=policy.tolerance, ignore_case=True)
    return Checker(type=rung)


def describe(checker: Checker) -> str:
    """Return a description of the checker."""
    parts: list[str] = [checker.type]
    if checker.float_tolerance is not None:
        parts.append(f"numbers within {checker.float_tolerance:g}")
    if checker.ignore_case:
        parts.append("any case")
    return ", ".join(parts)


def _has_wrong_answers_only(evidence: Evidence) -> bool:
    """Return True if all failures are wrong answers, which another checker might accept."""
    verdicts = {each.grade.verdict for each in evidence.references}
    return Verdict.WA in verdicts and verdicts <= {Verdict.AC, Verdict.WA, Verdict.TLE}


def _is_whole(run: Run, total: int) -> bool:
    """Return True if all outputs of the run are known in full."""
    ended = (Verdict.AC, Verdict.WA)
    return len(run.grade.tests) == total and all(
        not each.stdout_truncated and each.verdict in ended for each in run.grade.tests
    )


def _passes(checker: Checker, run: Run, tests: Sequence[StdinTest]) -> bool:
    return all(
        check_any(checker, result.stdout.encode(), test.outputs) is None
        for result, test in zip(run.grade.tests, tests, strict=True)
    )


def _rank(checker: Checker) -> int:
    """Position on the ladder; past its end for a checker that is not on it."""
    if checker.type == "tokens" and checker.ignore_case:
        return RUNGS.index("ignore_case")
    if checker.type == "tokens" and checker.float_tolerance is not None:
        return RUNGS.index("numbers")
    return next((place for place, rung in enumerate(RUNGS) if rung == checker.type), len(RUNGS))


def _key(checker: Checker) -> str:
    return checker.model_dump_json()
