"""Checks of a problem: functions of the problem, its evidence and the recipe, which yield findings.

A check changes nothing. To add one, write such a function and list it here; add a new finding's name to
`finding.MEANINGS`. Comparisons between problems are in `duplicates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sandbox_service.formats.problem import Problem
from sandbox_service.validation.checks import (
    answers,
    comparison,
    constraints,
    judges,
    prompt,
    references,
    speed,
    tests,
    wrong,
)
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

Check = Callable[[Problem, Evidence, Recipe], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    tests.are_enough,
    tests.have_different_answers,
    tests.do_not_contradict_each_other,
    constraints.are_kept,
    prompt.is_text,
    prompt.asks_something,
    prompt.needs_no_conversation,
    prompt.starter_is_called,
    references.can_be_judged,
    references.are_there,
    judges.do_not_fail,
    judges.tell_right_from_wrong,
    references.pass_every_test,
    references.give_the_same_answer_again,
    answers.only_one_is_right,
    wrong.known_wrong_ones_fail,
    wrong.probes_fail,
    wrong.another_solution_fails,
    speed.is_fast_enough,
    comparison.fits,
)


def findings(problem: Problem, evidence: Evidence, recipe: Recipe) -> list[Finding]:
    """Return the findings of all checks, in order.

    Args:
        problem: The problem with the tests that were run.
        evidence: All runs.
        recipe: Thresholds and checker policy.
    """
    return [found for check in CHECKS for found in check(problem, evidence, recipe)]
