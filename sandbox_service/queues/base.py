"""What every queue does, whichever it is. All of it is called from one event loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sandbox_service.answers import Answer
from sandbox_service.errors import IdReused
from sandbox_service.schema import Submission
from sandbox_service.suites import Suite

PRIORITIES = ("high", "normal", "low")

_EMPTY = hashlib.blake2b(digest_size=16)  # to copy it is quicker than to make one


@dataclass(slots=True)
class Job:
    """A submission as it waits: what is to be computed, for whom, and how urgent it is. Nobody changes one.

    `body` is the submission's JSON without its id, tests and labels, so that equal bodies are equal work.
    `client`: whose turn it takes. `keep`: it is computed though nobody waits for it. `own_bytes`: of its suite, if that
    came with it and is nobody else's. `fresh`: no cache answers it or keeps its answer.
    """

    id: str
    body: bytes
    digest: bytes
    suite: Suite
    tests: int
    client: str = ""
    priority: int = PRIORITIES.index("normal")
    labels: dict[str, str] = field(default_factory=dict)
    keep: bool = False
    own_bytes: int = 0
    fresh: bool = False

    @property
    def size(self) -> int:
        """Bytes that it takes in a queue."""
        return len(self.body) + self.own_bytes

    def like(self, id: str, body: bytes) -> Job:  # noqa: A002
        """Another one that differs in its body only. What came with this one is paid for."""
        return Job(
            id, body, _digest(body), self.suite, self.tests, self.client, self.priority, self.labels, keep=self.keep
        )


def job_of(submission: Submission, suite: Suite, key: str = "", *, keep: bool = False, own_bytes: int = 0) -> Job:
    """The job of a submission that has an id and refers to its suite. `key` names the API key that it came with."""
    body = submission.model_dump_json(exclude={"id", "tests", "labels"}, exclude_defaults=True).encode()
    tests = len(suite.tests)
    return Job(
        id=submission.id,
        body=body,
        digest=_digest(body),
        suite=suite,
        tests=min(tests, submission.sample.count) if submission.sample else tests,
        client=f"{key}/{submission.labels.get('client', '')}",
        priority=PRIORITIES.index(submission.labels.get("priority", "normal")),
        labels=submission.labels,
        keep=keep,
        own_bytes=own_bytes,
    )


def _digest(body: bytes) -> bytes:
    digest = _EMPTY.copy()
    digest.update(body)
    return digest.digest()


def distinct(jobs: Sequence[Job]) -> list[Job]:
    """Each submission once, in order; to be kept if that is said once. Raises IdReused if one id has two bodies."""
    found: dict[str, Job] = {}
    for job in jobs:
        known = found.setdefault(job.id, job)
        if known.digest != job.digest:
            raise reused(job.id)
        if job.keep and not known.keep:
            found[job.id] = replace(known, keep=True)
    return list(found.values())


def reused(submission_id: str) -> IdReused:
    """What is said to one who uses an id for two bodies."""
    return IdReused(f"id {submission_id!r} was used with another body; use a new id")


class Ticket(Protocol):
    """One who waits for a submission's answer."""

    @property
    def id(self) -> str:
        """The submission's."""

    @property
    def answer(self) -> asyncio.Future[Answer]:
        """Shared with others who wait: look, add callbacks, shield it; never cancel it. May raise Unavailable."""

    def release(self) -> None:
        """This one no longer waits. When nobody does, the submission is cancelled. Again has no effect."""


@dataclass(frozen=True, slots=True)
class Depth:
    """What is waiting or being graded."""

    submissions: int = 0
    waiting: int = 0
    bytes: int = 0
    cpu_seconds: float = 0.0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A machine that grades."""

    name: str
    slots: int
    busy: int
    ready: int
    languages: list[str] = field(default_factory=list)
    version: str = ""
    reasons: list[str] = field(default_factory=list)


class JobQueue(Protocol):
    """Takes submissions, bounded; gives grades back."""

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """Take all or none. The same id with the same work again is the same submission.

        Raises QueueFull, IdReused, BadRequest if so much would never be taken, or Unavailable.
        """

    async def find(self, submission_id: str) -> Ticket | None:
        """Wait for a submission that was taken before, here or elsewhere; None if there is no such."""

    async def cancel(self, submission_ids: Sequence[str]) -> int:
        """Have them not graded, whoever waits: they are answered `cancelled`. How many were still to be graded."""

    async def labelled(self, name: str, value: str) -> list[str]:
        """The ids of those to be graded that have this label."""

    async def put_suite(self, suite: Suite) -> bool:
        """Keep a suite for those who will name it. True if it is new."""

    async def suite(self, suite_id: str) -> Suite | None:
        """A suite that was put."""

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """Which of these would have to be put."""

    def depth(self) -> Depth:
        """How much waits or is being graded."""

    def workers(self) -> list[WorkerStatus]:
        """Who grades."""

    def counts(self) -> dict[str, int]:
        """What happened since the beginning, by name: cached, duplicates, requeued, …"""

    def unready(self) -> list[str]:
        """Why nothing can be graded now; empty if something can."""

    def languages(self) -> list[str]:
        """What the interpreters call themselves."""

    async def drain(self, seconds: float) -> None:
        """Take nothing more and finish what was taken, for so long; the rest is answered with Unavailable."""

    async def close(self) -> None:
        """Stop. What was not graded by then is answered with Unavailable."""
