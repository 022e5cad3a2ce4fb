"""Is it fast enough here? By CPU time, as it is judged."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.problem import Problem
from sandbox_service.schema import Verdict
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe


def is_fast_enough(_: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Room for a solution that is not as clever as the reference: the limit is a multiple of the reference's time."""
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
