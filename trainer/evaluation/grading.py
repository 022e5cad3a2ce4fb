"""Verdicts on samples, appended to a file as they come. What is in the file is not asked for again.

A verdict counts for the very text, tests and limits that it is about. A sample without a verdict (`IE`) is asked about
again, here a few times and in every later run; a test that is itself at fault is not, for it will stay so. Too many of
them end the evaluation: figures of what happened to work would be about something else.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainer.data import Problem, Problems
from trainer.errors import ConfigError
from trainer.evaluation import journal
from trainer.evaluation.samples import Sample, digest
from trainer.evaluation.together import Feed
from trainer.faults import FaultGauge
from trainer.grades import Grade, Grades, reason_of
from trainer.service import Peer

VERDICTS = "verdicts.jsonl"
FAULT_PAUSES = (1.0, 4.0, 16.0)  # seconds, before a sample without a verdict is asked about again
STAYS = ("bad_test", "cancelled")  # kinds of fault that another try would not change
PROBLEMS_HELD = 32  # with their tests, which may be megabytes


@dataclass(frozen=True)
class Judge:
    """Who grades, and how."""

    url: str = "http://127.0.0.1:8080"
    key_variable: str = "PROCTOR_API_KEY"
    patience_seconds: float = 600.0
    concurrency: int = 256
    extraction: str = "last_block"
    default_limits: Mapping[str, Any] = field(default_factory=dict)  # where a problem says nothing
    limits: Mapping[str, Any] = field(default_factory=dict)  # over what it says
    max_fault_share: float = 0.01

    def peer(self) -> Peer:
        """For a service."""
        return Peer(
            self.url,
            self.patience_seconds,
            self.key_variable,
            url_setting="--service",
            patience_setting="--patience",
        )


@dataclass(frozen=True)
class Verdict:
    """What was said of a sample."""

    problem: str
    sample: int
    verdict: str
    work: str  # a hash of what was graded

    @property
    def key(self) -> tuple[str, int]:
        """Which sample."""
        return self.problem, self.sample

    @property
    def is_fault(self) -> bool:
        """Whether there is none."""
        return self.verdict == "IE"


def read(path: Path) -> dict[tuple[str, int], Verdict]:
    """The last one of each sample. Raises ConfigError."""
    try:
        found = [Verdict(*(line[name] for name in Verdict.__dataclass_fields__)) for line in journal.read(path)]
    except KeyError as missing:
        raise ConfigError(f"{path}: a verdict without {missing}: remove the file, and all is graded again") from None
    return {verdict.key: verdict for verdict in found}


class Grading:
    """Brings a file of verdicts up to date with samples that come. In one event loop."""

    def __init__(
        self,
        problems: Problems,
        judge: Judge,
        path: Path,
        notice: Callable[[str], None] = print,
        take: Callable[[Verdict], None] = lambda _: None,
    ) -> None:
        self._problems = _Held(problems)
        self._judge = judge
        self._path = path
        self._notice = notice
        self._take = take
        self._there = read(path)
        self._gauge = FaultGauge(judge.max_fault_share, setting="--max-fault-share")

    async def run(self, feed: Feed[Sample]) -> None:
        """Until the feed's end. Raises what Grades raises, and TooManyFaults."""
        grades = Grades(self._judge.peer(), self._notice)
        try:
            with journal.Journal(self._path) as file:

                async def one(sample: Sample) -> None:
                    await self._one(sample, grades, file)

                await feed.each(one, self._judge.concurrency)
        finally:
            await grades.close()

    async def _one(self, sample: Sample, grades: Grades, file: journal.Journal) -> None:
        problem = self._problems.get(sample.problem)
        if problem is None:
            return
        submission = self._submission(sample, problem)
        known = self._there.get(sample.key)
        if known and known.work == submission["id"] and not known.is_fault:
            self._take(known)
            return
        grade = await self._grade(submission, problem, grades)
        word, reason = "IE" if grade.reward is None else grade.verdict.value, reason_of(grade)
        verdict = Verdict(sample.problem, sample.sample, word, submission["id"])
        said = {"reason": reason, "passed": grade.passed, "total": grade.total}
        file.append({name: getattr(verdict, name) for name in Verdict.__dataclass_fields__} | said)
        self._there[sample.key] = verdict
        self._take(verdict)
        self._gauge.count(reason if verdict.is_fault else None)

    async def _grade(self, submission: Mapping[str, Any], problem: Problem, grades: Grades) -> Grade:
        grade = await grades.of(submission, problem.grading, problem.id)
        for pause in FAULT_PAUSES:
            if grade.reward is not None or grade.failure_kind in STAYS:
                break
            await asyncio.sleep(pause)
            grade = await grades.of(submission, problem.grading, problem.id)
        return grade

    def _submission(self, sample: Sample, problem: Problem) -> dict[str, Any]:
        """All but the tests. Its id is a hash of it and of them: the same work has the same id, whoever asks."""
        judge, grading = self._judge, problem.grading
        submission: dict[str, Any] = {
            "completion": sample.text,
            "extraction": judge.extraction,
            "labels": {"client": "evaluate"},
        }
        submission |= {name: grading[name] for name in ("checker", "language") if name in grading}
        ours = judge.default_limits if "tests" in grading else {}  # a suite may have limits of its own
        if limits := {**ours, **grading.get("limits", {}), **judge.limits}:
            submission["limits"] = limits
        what = json.dumps([submission, self._problems.tests_of(problem.id)], sort_keys=True)
        return {"id": f"evaluate-{digest(what)}-{digest(sample.problem)}", **submission}


class _Held:
    """Problems by id, the last few of them with their tests."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._ids = {spot.id for spot in problems.spots}
        self._held: OrderedDict[str, tuple[Problem, str]] = OrderedDict()

    def get(self, name: str) -> Problem | None:
        """None for one that is not asked."""
        if name not in self._ids:
            return None
        if name not in self._held:
            problem = self._problems.by_id(name)
            self._held[name] = (problem, _hash(problem.grading))
            if len(self._held) > PROBLEMS_HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(name)
        return self._held[name][0]

    def tests_of(self, name: str) -> str:
        """A hash of the tests of a problem that was just got."""
        return self._held[name][1]


def _hash(grading: Mapping[str, Any]) -> str:
    body = json.dumps(grading.get("suite") or grading["tests"], sort_keys=True).encode()
    return hashlib.sha256(body).hexdigest()
