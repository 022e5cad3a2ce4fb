"""Data types of the ledger's calls. Bodies and answers are bytes that the ledger never parses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sandbox_service.errors import ProctorError


class UnknownWorkerError(ProctorError):
    """The worker is not registered: it was reaped, or Redis has lost its data. Register again, under a new name."""


class Terms(NamedTuple):
    """The fields that the submissions of a batch mostly share."""

    suite: str
    """The suite that holds their tests, or empty."""
    client: str
    """Bounds and turns are counted for it."""
    priority: int
    """0 high, 1 normal, 2 low."""
    cost: float
    """Estimated CPU seconds."""
    tests: int
    graders: str = ""
    """The version and languages of the graders, if equal bodies may share an answer; otherwise empty."""
    labels: tuple[tuple[str, str], ...] = ()
    keep: bool = False
    """Graded even if no process waits for them."""


class Entry(NamedTuple):
    """A submission as the ledger sees it."""

    id: str
    digest: bytes
    """16 bytes: the same id with another digest is refused."""
    body: bytes
    terms: Terms
    own_bytes: int = 0
    """Bytes that count beside its body: its suite, if that came with it."""


class Taken(NamedTuple):
    """The outcome of submitting one entry."""

    state: Literal["new", "joined", "answered", "cached"]
    answer: bytes | None = None


class Need(NamedTuple):
    """The amount of work and the number of workers for it: enough to compute the number of wake-ups."""

    waiting: int
    workers: int
    slots: int


class Elsewhere(NamedTuple):
    """The facts about the other workers that a worker receives with a beat."""

    idle: int
    """Idle slots of all workers, as last reported."""
    urgent: int
    """The priority of the next claim; one after the last if nothing waits."""


class Claim(NamedTuple):
    """A submission that a worker now holds."""

    id: str
    body: bytes
    terms: Terms
    attempts: int
    """How many workers were lost after they had started it."""
    taken: float
    """When it was submitted: seconds, by the clock of Redis."""
    now: float
    """When it was claimed, by the same clock."""
    alone: bool
    """It may have ended a worker: run no other at the same time."""
    begun: bool = False
    """The ledger has noted its start: the worker need not report it."""


class ClaimRequest(NamedTuple):
    """The number of submissions that a worker would claim, and the slots that they are for."""

    most: int
    """Submissions at most; there are never more than 64."""
    idle: int
    """Its idle slots. It gets enough for them, or its share of half of what waits, if that is more."""
    slots: int
    """All its slots."""
    last_priority: int = 2
    """The least urgent priority that it takes."""
    least: int = 0
    """Submissions that it gets in any case."""
    begins: int = 0
    """Submissions that begin as soon as they are here: their start is noted with the claim."""
    suites: tuple[str, ...] = ()
    """Suites that it has lately used; a claim of a few submissions brings the small ones of others."""


class Beat(NamedTuple):
    """The facts about a worker that show that it lives."""

    busy: int
    """Number of slots that grade."""
    ready_slots: int
    """Number of slots that have started."""
    idle: int = 0
    """Number of ready slots that grade nothing."""


class Start(NamedTuple):
    """The worker begins to run it. If the worker is lost from now on, the submission is a suspect."""

    id: str


class Finish(NamedTuple):
    """It is answered."""

    id: str
    answer: bytes
    fault: bool = False
    """The answer is a fault of the service: kept briefly, and the same id may be submitted again."""
    cacheable: bool = False


class GiveBack(NamedTuple):
    """The worker will not finish it; this is no attempt."""

    id: str


class Drop(NamedTuple):
    """The worker carried out a cancellation."""

    id: str


Step: TypeAlias = Start | Finish | GiveBack | Drop


class Exchanged(NamedTuple):
    """The reply to a call of a worker with a claim or a beat."""

    cancelled: list[str]
    """The ids that it must cancel, again each time until it settles them."""
    need: Need
    others: Elsewhere
    claims: list[Claim]
    suites: dict[str, bytes]
    """The bytes of some suites of the claims, by id."""
    held: int = 0
    """How many submissions the worker holds; 0 without a beat."""


class Found(NamedTuple):
    """The ledger's state of an id."""

    state: Literal["gone", "pending", "answered"]
    answer: bytes | None = None
    fault: bool = False
    cached: bool = False
    """The answer was made for another id."""
    digest: bytes = b""
    """Of what it is the answer to; empty if that is not known."""


class Lost(NamedTuple):
    """A submission that was lost with too many workers."""

    id: str
    tests: int
    attempts: int


class Reply(NamedTuple):
    """An answer for one API process."""

    stream_id: str
    id: str
    answer: bytes


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A registered worker, as of its last beat."""

    info: dict[str, object]
    slots: int
    busy: int
    ready_slots: int


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole ledger in figures."""

    count: int
    """Submissions that are not answered, whether they wait or are held."""
    waiting: int
    bytes: int
    cost: float
    """Estimated CPU seconds of all that is not answered."""
    oldest_seconds: float
    clients: int
    stats: dict[str, int]
    workers: int = 0
