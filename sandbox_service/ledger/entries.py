"""The nouns of the ledger: what goes in, what comes out, and the one thing that is an error of its own.

They carry no behaviour. Bodies and answers are bytes that the ledger never looks into.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sandbox_service.errors import ProctorError


class Unknown(ProctorError):
    """No such worker: it was reaped, or Redis has lost its memory. Register again, under a new name."""


class Terms(NamedTuple):
    """What the submissions of a batch mostly have in common."""

    suite: str
    """The suite that holds their tests, or empty."""
    client: str
    """Whom they are accounted to."""
    priority: int
    """0 high, 1 normal, 2 low."""
    cost: float
    """Estimated CPU seconds."""
    tests: int
    graders: str = ""
    """The kind of graders among which equal bodies share an answer, or empty."""
    labels: tuple[tuple[str, str], ...] = ()
    keep: bool = False
    """Asynchronous: they are graded even if nobody waits for them."""


class Entry(NamedTuple):
    """A submission as the ledger sees it."""

    id: str
    digest: bytes
    """16 bytes: the same id with another digest is refused."""
    body: bytes
    terms: Terms
    own_bytes: int = 0
    """What it is charged for beside its body: its suite, if that came with it."""


class Taken(NamedTuple):
    """What became of one entry that was submitted."""

    state: Literal["new", "joined", "answered", "cached"]
    answer: bytes | None = None


class Need(NamedTuple):
    """How much work there is and for how many: enough to see how many calls for hands are wanted."""

    waiting: int
    workers: int
    slots: int


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
    """It may have been what ended a worker: run nothing beside it."""


class Start(NamedTuple):
    """The worker begins to run it: if the worker is lost from now on, this one is a suspect."""

    id: str


class Finish(NamedTuple):
    """It is answered."""

    id: str
    answer: bytes
    fault: bool = False
    """The answer tells of a fault of ours: remembered briefly, and the same id may be sent again."""
    cacheable: bool = False


class GiveBack(NamedTuple):
    """The worker will not finish it, through no fault of the submission."""

    id: str


class Drop(NamedTuple):
    """The worker carried out a cancellation."""

    id: str


Step: TypeAlias = Start | Finish | GiveBack | Drop


class Found(NamedTuple):
    """What the ledger knows of an id."""

    state: Literal["gone", "pending", "answered"]
    answer: bytes | None = None
    fault: bool = False
    cached: bool = False
    """The answer was made for another id."""
    digest: bytes = b""
    """Of what it is the answer to; empty if that is not known."""


class Lost(NamedTuple):
    """A submission that has taken too many workers with it."""

    id: str
    tests: int
    attempts: int


class Reply(NamedTuple):
    """An answer on its way to one API process."""

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
    beats: int
    """Counts its beats: a worker whose count stands still is dead or cut off."""
    held: int
    """How many submissions it holds."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole ledger in figures."""

    count: int
    """Submissions that are not answered: those that wait and those that are held."""
    waiting: int
    bytes: int
    cost: float
    """Estimated CPU seconds of all that is not answered."""
    oldest_seconds: float
    clients: int
    stats: dict[str, int]
    workers: int = 0
