"""Counts and values of a validation, for the manifest and the report.

Keeps a few numbers for each problem, and some examples for each finding.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.validation.difficulty import Tally
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.record import Record

EXAMPLES = 25  # for each reason
VALUES = ("tests", "diversity", "letters", "slowest_seconds", "limit_seconds", "difficulty")
ROLES = ("references", "wrong", "probes")


@dataclass
class Totals:
    """Counts and values so far."""

    read: int = 0
    malformed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    clean: int = 0
    quarantined: int = 0
    findings: Counter[str] = field(default_factory=Counter)  # problems by name of finding
    causes: Counter[str] = field(default_factory=Counter)  # problems in quarantine, by their first finding
    by_source: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: {role: Counter() for role in ROLES})
    values: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in VALUES})
    times: array[float] = field(default_factory=lambda: array("d"))  # flat triples: slowest, limit, 1 if clean
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    graders: set[str] = field(default_factory=set)
    solved: array[float] = field(default_factory=lambda: array("d"))  # share of samples that pass, of those kept
    solved_dropped: array[float] = field(default_factory=lambda: array("d"))  # … of those too easy or too hard
    samples: Counter[str] = field(default_factory=Counter)  # of a model: graded, passed, cut, not_judged
    unknown: list[tuple[str, str]] = field(default_factory=list)  # clean problems without a difficulty, and why
    unknowns: int = 0
    generated: list[str] = field(default_factory=list)  # clean problems with a checker that a model wrote
    runs: int = 0
    tests_run: int = 0
    cpu_seconds: float = 0.0

    @property
    def judged(self) -> int:
        """Number of problems that were judged."""
        return self.clean + self.quarantined - self.malformed

    def take_malformed(self, place: str, reason: str, causes: Sequence[Finding]) -> None:
        """Count a row that is not a problem.

        Args:
            place: Where the row is.
            reason: Why it is not a problem.
            causes: The finding that puts it into quarantine.
        """
        self.read += 1
        self.malformed += 1
        self.quarantined += 1
        self._blame(place, [Finding("malformed", reason)], causes)

    def take_left_out(self, reason: str) -> None:
        """Count a problem that the recipe's filters leave out for this reason."""
        self.read += 1
        self.left_out[reason] += 1

    def take_unwanted(self, problem: Problem, record: Record, reason: str) -> None:
        """Count a clean problem that is too easy or too hard for the recipe, as the reason says.

        Args:
            problem: The clean problem.
            record: The record of its judgement.
            reason: `too easy` or `too hard`.
        """
        self.take_left_out(reason)
        self._measure(problem, record["figures"], is_clean=True)

    def take_tally(self, name: str, tally: Tally, *, is_kept: bool) -> None:
        """Count the samples of a clean problem.

        Args:
            name: Id of the problem.
            tally: Outcome of its samples.
            is_kept: Whether its difficulty is within the recipe's bounds.
        """
        self.samples.update(graded=tally.n, passed=tally.correct, cut=tally.cut, not_judged=tally.faults)
        if tally.n:
            (self.solved if is_kept else self.solved_dropped).append(tally.correct / tally.n)
            return
        self.unknowns += 1
        if len(self.unknown) < EXAMPLES:
            self.unknown.append((name, tally.reason))

    def take(self, problem: Problem, record: Record, findings: Sequence[Finding], causes: Sequence[Finding]) -> None:
        """Count a judged problem.

        Args:
            problem: The problem.
            record: Its record.
            findings: All findings that are reported.
            causes: The findings that put it into quarantine; empty for a clean problem.
        """
        self.read += 1
        self.clean += not causes
        self.quarantined += bool(causes)
        self.by_source[problem.source or "–"]["quarantine" if causes else "clean"] += 1
        if record.get("written") and not causes:
            self.generated.append(problem.id)
        self._blame(problem.id, findings, causes)
        self._measure(problem, record["figures"], is_clean=not causes)

    def _blame(self, name: str, findings: Sequence[Finding], causes: Sequence[Finding]) -> None:
        self.findings.update({each.name for each in findings})
        self.causes.update([each.name for each in causes[:1]])
        for each in findings:
            if len(self.examples[each.name]) < EXAMPLES:
                self.examples[each.name].append((name, each.reason))

    def _measure(self, problem: Problem, figures: dict[str, Any], *, is_clean: bool) -> None:
        known = {**figures, "difficulty": problem.difficulty}
        for name, values in self.values.items():
            if known[name] is not None:
                values.append(known[name])
        if figures["slowest_seconds"] is not None:
            self.times.extend((figures["slowest_seconds"], figures["limit_seconds"], float(is_clean)))
        for role, verdicts in self.verdicts.items():
            verdicts.update(figures[role])
        self.graders.update(figures["graders"])
        self.runs += figures["runs"]
        self.tests_run += figures["tests_run"]
        self.cpu_seconds += figures["cpu_seconds"]
