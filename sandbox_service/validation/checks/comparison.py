"""Under which comparison do the references pass? From their outputs, by the very checkers that pay.

Only of tests on stdin: what a call returns is compared as values, and a test program compares by itself. An output
that the judge has cut for display says nothing; then nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandbox_service.judging.checkers import check_any
from sandbox_service.problem import Problem
from sandbox_service.schema import Checker, StdinTest, Verdict
from sandbox_service.validation.evidence import Evidence, Run
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import CheckerPolicy, Recipe, Rung

RUNGS: tuple[Rung, ...] = ("exact", "lines", "tokens", "numbers", "ignore_case", "unordered_lines")


def fits(problem: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Whether another comparison than the problem's is the right one; the recipe's policy says what is made of it."""
    found = strictest(problem, evidence, recipe.checker)
    if found is None:
        return
    own = problem.checker or Checker()
    chosen = passes_under_what(problem, evidence, recipe)
    if chosen is not None:
        yield Finding("looser_checker", f"the references pass under {told(chosen)}, and not under {told(own)}")
    elif _rank(found) < _rank(own) and all(each.passed for each in evidence.references):
        yield Finding("stricter_checker", f"the references pass under {told(found)} as well")


def passes_under_what(problem: Problem, evidence: Evidence, recipe: Recipe) -> Checker | None:
    """The comparison to be written because some reference passes only under it; None if there is none, or no need."""
    if recipe.checker.policy == "keep" or not _has_wrong_answers_only(evidence):
        return None
    allowed = {_key(checker_of(each, recipe.checker)) for each in recipe.checker.allowed}
    found = strictest(problem, evidence, recipe.checker, recipe.checker.allowed)
    return found if found is not None and _key(found) in allowed else None


def proposed(problem: Problem, evidence: Evidence, recipe: Recipe) -> Checker | None:
    """What the clean line should say, if anything else than the problem does."""
    if recipe.checker.policy == "strictest":
        return strictest(problem, evidence, recipe.checker, recipe.checker.allowed)
    return passes_under_what(problem, evidence, recipe)


def strictest(
    problem: Problem, evidence: Evidence, policy: CheckerPolicy, rungs: Sequence[Rung] = RUNGS
) -> Checker | None:
    """The first of these under which all references that ran to their end pass."""
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
    """What a rung of the ladder stands for. `numbers` is words of which those that are numbers may be near enough."""
    if rung == "numbers":
        return Checker(type="tokens", float_tolerance=policy.tolerance)
    if rung == "ignore_case":
        return Checker(type="tokens", float_tolerance=policy.tolerance, ignore_case=True)
    return Checker(type=rung)


def told(checker: Checker) -> str:
    """In words."""
    said: list[str] = [checker.type]
    if checker.float_tolerance is not None:
        said.append(f"numbers within {checker.float_tolerance:g}")
    if checker.ignore_case:
        said.append("any case")
    return ", ".join(said)


def _has_wrong_answers_only(evidence: Evidence) -> bool:
    """Whether there is something to mend, and nothing that no comparison could mend."""
    verdicts = {each.grade.verdict for each in evidence.references}
    return Verdict.WA in verdicts and verdicts <= {Verdict.AC, Verdict.WA, Verdict.TLE}


def _is_whole(run: Run, total: int) -> bool:
    """Whether all that it printed is known."""
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
    """How far down the ladder; a problem's own comparison that is on no rung is far down."""
    if checker.type == "tokens" and checker.ignore_case:
        return RUNGS.index("ignore_case")
    if checker.type == "tokens" and checker.float_tolerance is not None:
        return RUNGS.index("numbers")
    return next((place for place, rung in enumerate(RUNGS) if rung == checker.type), len(RUNGS))


def _key(checker: Checker) -> str:
    return checker.model_dump_json()
