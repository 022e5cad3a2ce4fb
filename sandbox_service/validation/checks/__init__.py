"""What is asked of every problem: functions of a problem, of what was run for it, and of the recipe's thresholds.

Each yields findings, with reasons that a person can read, and changes nothing. To add a check, write such a function
and name it here; a finding of a new kind is named in `finding.MEANINGS` as well. What compares problems with each other
is not here: it is in `duplicates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sandbox_service.problem import Problem
from sandbox_service.validation.checks import answers, comparison, constraints, prompt, references, speed, tests, wrong
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
    """All that all checks find, in their order."""
    return [found for check in CHECKS for found in check(problem, evidence, recipe)]
