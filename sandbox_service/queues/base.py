"""The interface of queues, and the jobs in them. All methods are called from one event loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from sandbox_service import languages
from sandbox_service.errors import IdReusedError, LimitTooHighError
from sandbox_service.grading import admission
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.suites import Suite
from sandbox_service.schema import JudgeProgram, Limits, Submission

if TYPE_CHECKING:
    from sandbox_service.queues.observers import EventCollector, QueueObserver
    from sandbox_service.queues.quotas import Quotas

PRIORITIES = ("high", "normal", "low")
DEFAULT_BYTES = Limits().memory_bytes

NO_KEYS = ("",)  # the keys of a service that requires none
MARK_BYTES = 4  # of a digest, where keys are required: they tell whose submission it is

_EMPTY = hashlib.blake2b(digest_size=16)  # copying is faster than making one


@dataclass(slots=True)
class Job:
    """A submission in a queue. Immutable by convention.

    `name`: what queues and Redis call it: API keys share no ids, so an id is a submission's own only with its key.
    `body`: the submission's JSON without its id, tests and labels, so that equal bodies are equal work. `digest`: of
    the body, and of the API key it came with, so that keys share no answers.
    `client`: shares and turns are counted for each client. `keep`: graded even if no caller waits for it.
    `own_bytes`: of its suite, if the suite came with it. `fresh`: a recheck, which is neither answered from a cache nor
    cached nor published to observers. `languages`: those that the grading machine must have, for the program and its
    judges. `memory_bytes`: the submission's own memory limit; 0 if it has the default one. `has_default_memory`: no
    field of the body says how much memory its boxes need. `most_cpu_seconds`: of all tests together, by their limits.
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
    languages: tuple[str, ...] = ("python",)
    memory_bytes: int = 0
    most_cpu_seconds: float = 0.0
    has_default_memory: bool = False
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive the name."""
        self.name = self.id if self.client[:1] == "/" else name_of(self.id, self.key)

    @property
    def key(self) -> str:
        """Return the name of the API key that it came with; empty without one."""
        return self.client.partition("/")[0]

    @property
    def size(self) -> int:
        """Return the bytes that count in a queue."""
        return len(self.body) + self.own_bytes

    def like(self, id: str, body: bytes) -> Job:  # noqa: A002
        """Return another job that differs in id and body. The suite is counted with this one."""
        return Job(
            id,
            body,
            _digest(body, self.client),
            self.suite,
            self.tests,
            self.client,
            self.priority,
            self.labels,
            keep=self.keep,
            languages=self.languages,
            memory_bytes=self.memory_bytes,
            most_cpu_seconds=self.most_cpu_seconds,
            has_default_memory=self.has_default_memory,
        )


def name_of(submission_id: str, key: str) -> str:
    """Return the name of a submission in queues and in Redis.

    Args:
        submission_id: Its id, which its client chose.
        key: Name of the API key that it came with; empty where none are required.
    """
    return f"{key}/{submission_id}" if key else submission_id


def id_of(name: str, client: str) -> str:
    """Return the id of a submission.

    Args:
        name: Its `name_of`.
        client: Its `Job.client`.
    """
    key = client.partition("/")[0]
    return name.removeprefix(f"{key}/") if key else name


def job_of(submission: Submission, suite: Suite, key: str = "", *, keep: bool = False, own_bytes: int = 0) -> Job:
    """Return the job of a submission that has an id and refers to its suite.

    Args:
        submission: with an id.
        suite: its tests.
        key: name of the API key that it came with.
        keep: grade it even if no caller waits for it.
        own_bytes: bytes of the suite, if that came with the submission.
    """
    if submission.sample is not None:  # the grade must follow from the body alone: answers are cached by it
        submission = submission.model_copy(update={"sample": submission.sample.of(submission.id)})
    body = submission.model_dump_json(exclude={"id", "tests", "labels"}, exclude_defaults=True).encode()
    memory_bytes = submission.limits.memory_bytes
    client = f"{key}/{submission.labels.get('client', '')}"
    tests = min(suite.count, submission.sample.count) if submission.sample else suite.count
    return Job(
        id=submission.id,
        body=body,
        digest=_digest(body, client),
        suite=suite,
        tests=tests,
        client=client,
        priority=PRIORITIES.index(submission.labels.get("priority", "normal")),
        labels=submission.labels,
        keep=keep,
        own_bytes=own_bytes,
        languages=_needed(submission, suite),
        memory_bytes=0 if memory_bytes == DEFAULT_BYTES else memory_bytes,
        most_cpu_seconds=tests * submission.limits.resolved().cpu_seconds,
        has_default_memory=_has_default_memory(submission),
    )


def check_memory(jobs: Iterable[Job], memory_bytes: int, machine: str) -> None:
    """Check that a machine has as much memory as each submission asks for.

    Args:
        jobs: the submissions. One with the default limit is graded in any case, alone if need be.
        memory_bytes: of all programs on the machine.
        machine: its name, for the message.

    Raises:
        LimitTooHighError: one of them can never run there.
    """
    for job in jobs:
        if job.memory_bytes > memory_bytes:
            raise LimitTooHighError(
                f"limits.memory_bytes is {job.memory_bytes}, and {machine} has {memory_bytes} for all programs: lower "
                "the limit, or give the machine more memory (SANDBOX_MEMORY_BYTES)"
            )


def soonest_first(jobs: Iterable[Job]) -> list[Job]:
    """Return jobs in the order in which they are likely to end: those whose tests may take longest come last.

    Jobs that may take equally long stay in their order, so that those of one suite stay together.
    """
    return sorted(jobs, key=attrgetter("most_cpu_seconds"))


def _needed(submission: Submission, suite: Suite) -> tuple[str, ...]:
    """Return the languages of a submission and of the programs that judge it."""
    own = languages.find(submission.language).name
    judges = [languages.find(judge.language).name for judge in admission.judges_run(submission, suite)]
    return (own, *judges)


def _has_default_memory(submission: Submission) -> bool:
    """Return whether the body of a submission says nothing about memory; see slots/memory.py."""
    return (
        submission.language == "python"
        and submission.limits.memory_bytes == DEFAULT_BYTES
        and submission.compile_limits.memory_bytes is None
        and submission.interactor is None
        and not isinstance(submission.checker, JudgeProgram)
    )


def _digest(body: bytes, client: str) -> bytes:
    """Return the digest of a body of a client. Its last bytes are the mark of the API key, if there is one."""
    found = _EMPTY.copy()
    found.update(body)
    digest, key = found.digest(), client.partition("/")[0]
    return digest[:-MARK_BYTES] + owner_mark(key) if key else digest


@lru_cache(maxsize=1024)
def owner_mark(owner: str) -> bytes:
    """Return the bytes that mark the digests of an API key's submissions.

    Args:
        owner: Name of the key.
    """
    return hashlib.blake2b(owner.encode(), digest_size=MARK_BYTES).digest()


def distinct(jobs: Sequence[Job]) -> list[Job]:
    """Return each submission once, in order, with `keep` if one of its jobs has it.

    Raises:
        IdReusedError: one id has two bodies.
    """  # noqa: DOC501 (`reused` makes the exception)
    found: dict[str, Job] = {}
    for job in jobs:
        known = found.setdefault(job.name, job)
        if known.digest != job.digest:
            raise reused(job.id)
        if job.keep and not known.keep:
            found[job.name] = replace(known, keep=True)
    return list(found.values())


def reused(submission_id: str) -> IdReusedError:
    """Return the error for an id that is used for two bodies."""
    return IdReusedError(f"id {submission_id!r} was used with another body; use a new id")


class Waiter(Protocol):
    """The claim of one caller to a submission's answer."""

    @property
    def id(self) -> str:
        """Return the submission's id."""

    @property
    def answer(self) -> asyncio.Future[EncodedGrade]:
        """Return the answer, a future that all waiters share: do not cancel it. It may raise UnavailableError."""

    def release(self) -> None:
        """Stop waiting. The submission is cancelled when no waiter is left. Calling it again has no effect."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The load that waits or is being graded."""

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
    memory_bytes: int = 0


class JobQueue(Protocol):
    """Takes submissions within bounds and answers them with grades."""

    async def submit(self, jobs: Sequence[Job]) -> list[Waiter]:
        """Take all jobs or none. The same id with the same body again is the same submission.

        Returns:
            A waiter for each job, in order.

        Raises:
            QueueFullError: a client would exceed its share; retry later.
            OverQuotaError: its API key has used up its quota; retry later.
            IdReusedError: an id is in use with another body.
            BodyTooLargeError: the jobs together exceed the bounds of an empty queue.
            UnavailableError: nothing can be graded, or the queue closes.
        """

    async def find(self, submission_id: str, keys: Sequence[str] = NO_KEYS) -> Waiter | None:
        """Return a waiter for a submission that was taken before, here or elsewhere; None if its id is unknown.

        Args:
            submission_id: the submission.
            keys: names of API keys; the first one that has a submission of this id decides.
        """

    async def cancel(self, submission_ids: Sequence[str], keys: Sequence[str] = NO_KEYS) -> int:
        """Cancel submissions for all waiters; these are answered `cancelled`.

        Args:
            submission_ids: the submissions; those that are not pending are ignored.
            keys: names of API keys; submissions of others are ignored.

        Returns:
            How many were not yet graded.
        """

    async def cancel_labelled(self, name: str, value: str, keys: Sequence[str] = NO_KEYS) -> int:
        """Cancel the submissions that have a label. See `cancel`.

        Args:
            name: of the label.
            value: of the label.
            keys: names of API keys; submissions of others are ignored.

        Returns:
            How many were not yet graded.
        """

    async def put_suite(self, suite: Suite) -> bool:
        """Keep a suite for submissions that will name it. Return whether it is new."""

    async def suite(self, suite_id: str) -> Suite | None:
        """Return a suite that was put; None if it is not known."""

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """Return the ids of those suites that are not known."""

    def depth(self) -> Depth:
        """Return how much waits or is being graded."""

    def workers(self) -> list[WorkerStatus]:
        """Return the machines that grade."""

    def counts(self) -> dict[str, int]:
        """Return event counts since the start, by name: cached, duplicates, requeued, …"""

    def unready(self) -> list[str]:
        """Return why nothing can be graded now; empty if something can."""

    def languages(self) -> list[str]:
        """Return the names of the interpreters that grade."""

    async def drain(self, seconds: float) -> None:
        """Accept nothing more; finish accepted work for at most so many seconds. The rest gets UnavailableError."""

    async def close(self) -> None:
        """Stop. What is not graded by then is answered with UnavailableError."""


class ObservedQueue(JobQueue, Protocol):
    """A queue that publishes its events: the queue of the service, not that of a process for large requests."""

    @property
    def quotas(self) -> Quotas:
        """Return the quotas of API keys, which `submit` applies."""

    def observe(self, observer: QueueObserver) -> None:
        """Subscribe an observer to every submission that is taken from now on; see queues/observers.py."""

    def collect(self, collector: EventCollector) -> None:
        """Give a collector the events of every submission that is taken from now on; see queues/observers.py."""

    def learn_suite(self, facts: Suite) -> None:
        """Remember the facts that another process has read from a suite. `facts` has no body.

        Later calls of `suite` return these facts where this process did not read the body.
        """
