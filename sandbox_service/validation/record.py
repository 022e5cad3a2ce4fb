"""The record of a judged problem: plain data for the journal, without the outputs of the programs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, JudgeProgram, Limits
from sandbox_service.validation import checks
from sandbox_service.validation.checks import comparison
from sandbox_service.validation.checks.tests import answers_of, how_many
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.evidence import Evidence, Run
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

GENERATED = "generated_checker"  # a finding, and a field of a clean problem's `meta`

Record = dict[str, Any]


def key_of(problem: Problem) -> str:
    """Return a hash of the problem's content, which the difficulty does not change."""
    return hashlib.sha256(problem.model_dump_json(exclude={"difficulty"}).encode()).hexdigest()


def make(problem: Problem, evidence: Evidence, recipe: Recipe, writer: str = "") -> Record:
    """Return the record of a problem.

    Args:
        problem: The problem with the tests that were run.
        evidence: All runs.
        recipe: Thresholds and checker policy.
        writer: The model that wrote the problem's checker, if one did.
    """
    checker = comparison.proposed(problem, evidence, recipe)
    passed = any(each.passed for each in evidence.references)
    findings = checks.findings(problem, evidence, recipe)
    if writer:
        findings.append(Finding(GENERATED, f"the checker was written by {writer}"))
    return {
        "findings": [each.line() for each in findings],
        "checker": checker.model_dump(mode="json", exclude_none=True) if checker else None,
        "written": {"by": writer, "source": _source(problem)} if writer else None,
        "limits": _said(evidence.limits) if evidence.limits and passed else None,
        "other": evidence.other,
        "figures": _figures(problem, evidence),
    }


def with_measured_limits(problem: Problem, record: Record) -> Problem:
    """Return the problem with the limits and the checker that follow from its references."""
    changes: dict[str, Any] = {}
    if record["limits"] is not None:
        changes["limits"] = Limits(**record["limits"])
    if record["checker"] is not None:
        changes["checker"] = Checker(**record["checker"])
    if (written := record.get("written")) is not None:
        changes["checker"] = JudgeProgram(type="program", protocol="function", source=written["source"])
        changes["meta"] = {**(problem.meta or {}), GENERATED: written["by"]}
    return problem.model_copy(update=changes)


def _source(problem: Problem) -> str:
    assert isinstance(problem.checker, JudgeProgram)
    return problem.checker.source or ""


def is_final(record: Record) -> bool:
    """Return whether another try would give the same record."""
    return all(each["name"] != "not_judged" for each in record["findings"])


def _said(limits: Limits) -> dict[str, Any]:
    return limits.model_dump(mode="json", exclude_none=True)


def _figures(problem: Problem, evidence: Evidence) -> dict[str, Any]:
    tests = problem.tests or []
    answers = answers_of(tests)
    results = [each for run in evidence.runs for each in run.grade.tests]
    passed = [each.slowest_seconds for each in evidence.references if each.passed]
    return {
        "tests": how_many(tests),
        "diversity": len(set(answers)) / len(answers) if answers else None,
        "letters": sum(sign.isalnum() for sign in text_of(problem)),
        "slowest_seconds": max(passed, default=None),
        "limit_seconds": evidence.limits.cpu_seconds if evidence.limits else None,
        "references": _verdicts(evidence.references),
        "wrong": _verdicts(evidence.of("wrong")),
        "probes": _verdicts(evidence.of("probe")),
        "runs": len(evidence.runs),
        "tests_run": len(results),
        "cpu_seconds": round(sum(each.cpu_seconds for each in results), 6),
        "graders": sorted({f"{run.grade.grader.version} · {run.grade.grader.language}" for run in evidence.runs}),
    }


def _verdicts(runs: Sequence[Run]) -> dict[str, int]:
    return dict(sorted(Counter(str(each.grade.verdict) for each in runs).items()))
