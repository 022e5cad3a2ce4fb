"""Checks that the references are fast enough, by CPU time as the judge measures it."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Verdict
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe


def is_fast_enough(_: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding if no allowed limit leaves room for slower solutions: a limit is a multiple of the reference's
    time.
    """
    thresholds = recipe.thresholds
    slow = [each for each in evidence.references if each.grade.verdict == Verdict.TLE]
    passed = [each for each in evidence.references if each.passed]
    if slow and passed:
        yield Finding("slow_reference", f"{slow[0].name}: {slow[0].grade.message}")
    elif slow:
        yield Finding("too_slow", f"{slow[0].name}: {slow[0].grade.message}")
    slowest = max(passed, key=lambda each: each.slowest_seconds, default=None)
    if slowest is not None and slowest.slowest_seconds > thresholds.most_limit_seconds:
        yield Finding(
            "too_slow",
            f"{slowest.name} takes {slowest.slowest_seconds:.1f} s, the most is {thresholds.most_limit_seconds:g} s",
        )
