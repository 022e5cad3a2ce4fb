"""Grades samples and appends the verdicts to a file. Verdicts in the file are reused.

A verdict belongs to a text, its tests and limits. A sample without a verdict (`IE`) is graded again, a few times at
once and in every later run, unless the test itself is faulty. Too many samples without a verdict end the evaluation,
because figures of the rest would be biased.
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

from sandbox_service.client import REQUEST_FAULTS, Grade, Peer, reason_of
from trainer.data import SENT, Problem, Problems
from trainer.errors import ConfigError
from trainer.evaluation import jsonl
from trainer.evaluation.concurrency import ClosableQueue
from trainer.evaluation.samples import Sample, digest
from trainer.reward import FaultGauge, RewardClient

VERDICTS = "verdicts.jsonl"
FAULT_PAUSES = (1.0, 4.0, 16.0)  # seconds before a sample without a verdict is graded again
PROBLEMS_HELD = 32  # in memory with their tests, which may be megabytes


@dataclass(frozen=True)
class GradingOptions:
    """The reward service and the grading settings."""

    url: str = "http://127.0.0.1:8080"
    key_variable: str = "PROCTOR_API_KEY"
    patience_seconds: float = 600.0
    concurrency: int = 256
    extraction: str = "last_block"
    default_limits: Mapping[str, Any] = field(default_factory=dict)  # where a problem has none
    limits: Mapping[str, Any] = field(default_factory=dict)  # override the problem's
    max_fault_share: float = 0.01

    def peer(self) -> Peer:
        """Return the client's connection settings."""
        return Peer(
            self.url,
            self.patience_seconds,
            self.key_variable,
            url_setting="--url",
            patience_setting="--patience",
        )


@dataclass(frozen=True)
class Verdict:
    """The verdict on a sample."""

    problem: str
    sample: int
    verdict: str
    work: str  # a hash of text, tests and settings

    @property
    def key(self) -> tuple[str, int]:
        """The problem's id and the sample's number."""
        return self.problem, self.sample

    @property
    def is_fault(self) -> bool:
        """Return whether there is no verdict."""
        return self.verdict == "IE"


def read(path: Path) -> dict[tuple[str, int], Verdict]:
    """Return the latest verdict of each sample.

    Args:
        path: The file of verdicts.

    Raises:
        ConfigError: The file is invalid.
    """
    try:
        found = [Verdict(*(line[name] for name in Verdict.__dataclass_fields__)) for line in jsonl.read(path)]
    except KeyError as missing:
        raise ConfigError(f"{path}: a verdict without {missing}: delete the file to grade all samples again") from None
    return {verdict.key: verdict for verdict in found}


class Grading:
    """Grades samples from a queue. Use it in one event loop."""

    def __init__(
        self,
        problems: Problems,
        options: GradingOptions,
        path: Path,
        notice: Callable[[str], None] = print,
        take: Callable[[Verdict], None] = lambda _: None,
    ) -> None:
        self._problems = _ProblemCache(problems)
        self._options = options
        self._path = path
        self._notice = notice
        self._take = take
        self._there = read(path)
        self._gauge = FaultGauge(options.max_fault_share, setting="--max-fault-share")

    async def run(self, feed: ClosableQueue[Sample]) -> None:
        """Grade samples until the queue's end.

        Args:
            feed: The queue.

        Raises:
            UnavailableError: The service does not answer.
            ConfigError: The service refuses a submission.
            TooManyFaultsError: Too many samples have no verdict.
        """
        client = RewardClient(self._options.peer(), notice=self._notice)
        async with client:
            with jsonl.JsonlWriter(self._path) as file:

                async def one(sample: Sample) -> None:
                    await self._one(sample, client, file)

                await feed.each(one, self._options.concurrency)

    async def _one(self, sample: Sample, client: RewardClient, file: jsonl.JsonlWriter) -> None:
        problem = self._problems.get(sample.problem)
        if problem is None:
            return
        submission = self._submission(sample, problem)
        known = self._there.get(sample.key)
        if known and known.work == submission["id"] and not known.is_fault:
            self._take(known)
            return
        grade = await self._grade(submission, problem, client)
        word, reason = "IE" if grade.reward is None else grade.verdict.value, reason_of(grade)
        verdict = Verdict(sample.problem, sample.sample, word, submission["id"])
        details = {"reason": reason, "passed": grade.passed, "total": grade.total}
        file.append({name: getattr(verdict, name) for name in Verdict.__dataclass_fields__} | details)
        self._there[sample.key] = verdict
        self._take(verdict)
        self._gauge.count(reason if verdict.is_fault else None)

    async def _grade(self, submission: Mapping[str, Any], problem: Problem, client: RewardClient) -> Grade:
        grade = await client.grade_problem(submission, problem.grading, problem.id)
        for pause in FAULT_PAUSES:
            if grade.reward is not None or grade.failure_kind in REQUEST_FAULTS:
                break
            await asyncio.sleep(pause)
            grade = await client.grade_problem(submission, problem.grading, problem.id)
        return grade

    def _submission(self, sample: Sample, problem: Problem) -> dict[str, Any]:
        """Return the submission's fields except the tests. Its id is a hash of its content, so equal work has one
        id.
        """
        submission = submission_of(sample, problem, self._options)
        what = json.dumps([submission, self._problems.tests_of(problem.id)], sort_keys=True)
        return {"id": f"evaluate-{digest(what)}-{digest(sample.problem)}", **submission}


def submission_of(sample: Sample, problem: Problem, options: GradingOptions) -> dict[str, Any]:
    """Return a submission's fields except its id and tests.

    Args:
        sample: The sample.
        problem: Its problem.
        options: The grading settings.
    """
    grading = problem.grading
    submission: dict[str, Any] = {
        "completion": sample.text,
        "extraction": options.extraction,
        "labels": {"client": "evaluate"},
    }
    submission |= {name: grading[name] for name in SENT if name in grading}
    ours = options.default_limits if "tests" in grading else {}  # a suite may define limits
    if limits := {**ours, **grading.get("limits", {}), **options.limits}:
        submission["limits"] = limits
    return submission


class _ProblemCache:
    """Problems by id; the most recently used are in memory."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._ids = {spot.id for spot in problems.spots}
        self._held: OrderedDict[str, tuple[Problem, str]] = OrderedDict()

    def get(self, name: str) -> Problem | None:
        """Return the problem of that name, None if it is not part of the evaluation."""
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
        """Return the hash of the tests of a problem whose name was given to `get`."""
        return self._held[name][1]


def _hash(grading: Mapping[str, Any]) -> str:
    body = json.dumps(grading.get("suite") or grading["tests"], sort_keys=True).encode()
    return hashlib.sha256(body).hexdigest()
