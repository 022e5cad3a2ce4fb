"""Checks that wrong programs fail."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.formats.problem import Problem
from sandbox_service.validation import probes
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

TOO_SLOW = {"TLE", "MLE"}


def known_wrong_ones_fail(_: Problem, evidence: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if a known wrong solution passes: a hole in the tests, or, if it was only too slow, a fast
    machine.
    """
    passed = [each for each in evidence.of("wrong") if each.passed and each.solution is not None]
    slow = [each for each in passed if each.solution is not None and set(each.solution.verdicts) <= TOO_SLOW]
    wrong = [each for each in passed if each not in slow]
    total = len(evidence.of("wrong"))
    if wrong:
        yield Finding("wrong_passes", f"{len(wrong)} of {total} known-wrong solutions pass: {wrong[0].name}")
    if slow:
        yield Finding("slow_passes", f"{len(slow)} of {total} known-wrong solutions should be too slow: {slow[0].name}")


def probes_fail(_: Problem, evidence: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if a probe passes: the reward would teach a program that solves nothing."""
    passed = [each.name for each in evidence.of("probe") if each.passed and each.name != probes.OTHER]
    if passed:
        more = f" (and {len(passed) - 1} more)" if len(passed) > 1 else ""
        yield Finding("probe_passes", f"a program passes that {passed[0]}{more}")


def another_solution_fails(_: Problem, evidence: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if the solution of an earlier problem passes: both are the same, or the tests tell nothing.

    The job drops the finding if that earlier problem was not kept.
    """
    if any(each.name == probes.OTHER and each.passed for each in evidence.of("probe")):
        yield Finding("twin", f"it is solved by the solution of {evidence.other}")
