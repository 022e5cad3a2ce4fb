"""The backlog of one process: order, bounds and counts of submissions that are not answered.

Implements bounds/. It holds no futures and answers nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sandbox_service.bounds import KINDS, MOST_TOGETHER, Bounds, never, over_all, over_share
from sandbox_service.errors import BodyTooLargeError, QueueFullError
from sandbox_service.queues.base import PRIORITIES, Depth, Job
from sandbox_service.queues.estimate import Estimate

LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS = 1.0, 60.0


@dataclass(slots=True)
class Load:
    """The load that a client, or all of them, has waiting or in work."""

    submissions: int = 0
    bytes: int = 0
    cpu_seconds: float = 0.0

    def add(self, other: Load) -> None:
        """Add a load."""
        self.submissions += other.submissions
        self.bytes += other.bytes
        self.cpu_seconds += other.cpu_seconds

    def subtract(self, other: Load) -> None:
        """Subtract a load."""
        self.submissions -= other.submissions
        self.bytes -= other.bytes
        self.cpu_seconds -= other.cpu_seconds

    def excess(self, more: Load, bounds: Bounds, clients: int) -> str | None:
        """Return why this and `more` would exceed a client's share; None if they fit.

        Args:
            more: the load to be added.
            bounds: the bounds of the whole queue.
            clients: the number of clients that share them.
        """
        for kind in KINDS:
            have, want, most = getattr(self, kind), getattr(more, kind), getattr(bounds, kind) / clients
            if have + want > most:
                return over_share(kind, have, want, most, clients)
        return None

    def excess_of_all(self, total: Load, bounds: Bounds) -> str | None:
        """Return why the other clients, with the total less this load, have too much together; None if they do not."""
        for kind in KINDS:
            others, most = getattr(total, kind) - getattr(self, kind), getattr(bounds, kind) * MOST_TOGETHER
            if others >= most:
                return over_all(kind, others, most)
        return None


def load_of(job: Job, estimate: Estimate) -> Load:
    """Return the load of a submission."""
    return Load(1, job.size, estimate.cost(job.tests))


def check_fits(loads: Iterable[Load], bounds: Bounds) -> None:
    """Raise BodyTooLargeError if the loads together exceed an empty queue. A single one never does."""
    together = Load()
    for load in loads:
        together.add(load)
    for kind in KINDS if together.submissions > 1 else ():
        want, most = getattr(together, kind), getattr(bounds, kind)
        if want > most:
            raise BodyTooLargeError(never(kind, want, most))


@dataclass(slots=True)
class Waiting:
    """A submission's place in the backlog. `waits`: no one has taken it."""

    key: str
    client: str
    priority: int
    load: Load
    since: float = field(default_factory=time.monotonic)
    waits: bool = False


class Backlog:
    """Submissions that were taken and are not answered."""

    def __init__(self, bounds: Bounds, slots: int) -> None:
        self._bounds = bounds
        self._slots = slots
        self._places: dict[str, Waiting] = {}  # in order of arrival
        self._loads: defaultdict[str, Load] = defaultdict(Load)
        self._total = Load()
        self._rings: list[OrderedDict[str, deque[Waiting]]] = [OrderedDict() for _ in PRIORITIES]
        self._counts = [0] * len(PRIORITIES)  # of waiting submissions, by priority

    def check_room(self, client: str, more: Load) -> None:
        """Raise QueueFullError if a client may not have so much more; see bounds/."""
        mine = self._loads.get(client, Load())
        excess = mine.excess_of_all(self._total, self._bounds)
        if excess is None and (mine.submissions or more.submissions > 1):
            excess = mine.excess(more, self._bounds, len(self._loads) + (client not in self._loads))
        if excess is not None:
            seconds = self._total.cpu_seconds / max(1, self._slots)
            raise QueueFullError(excess, min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS))

    def add(self, place: Waiting) -> None:
        """Add a submission, which does not wait so far, behind the others of its client."""
        self._places[place.key] = place
        self._loads[place.client].add(place.load)
        self._total.add(place.load)
        self._line(place).append(place)
        place.waits = True
        self._counts[place.priority] += 1

    def put_back(self, key: str) -> None:
        """Let the submission with this key, which was taken, wait again before the others of its client."""
        place = self._places[key]
        self._line(place).appendleft(place)
        self._rings[place.priority].move_to_end(place.client, last=False)
        self._wait(place)

    def most_urgent(self) -> int | None:
        """Return the priority of the submission that `next` would take; None if none waits."""
        return next((priority for priority, count in enumerate(self._counts) if count), None)

    def next(self) -> str | None:
        """Take the next submission. Return its key; None if nothing waits."""
        for ring in self._rings:
            while ring:
                client, line = next(iter(ring.items()))
                place = line.popleft()
                if not line:
                    del ring[client]
                elif place.waits:  # a cancelled submission costs no turn
                    ring.move_to_end(client)
                if place.waits:
                    self._wait_no_longer(place)
                    return place.key
        return None

    def remove(self, key: str) -> None:
        """Remove the submission with this key: it is answered or cancelled. `next` skips it where it still stands in a
        line.
        """
        place = self._places.pop(key)
        if place.waits:
            self._wait_no_longer(place)
        self._total.subtract(place.load)
        load = self._loads[place.client]
        load.subtract(place.load)
        if not load.submissions:
            del self._loads[place.client]
        if not self._places:
            self._total = Load()  # sums of fractions drift

    def waiting(self) -> list[str]:
        """Return the keys of all that waits."""
        return [place.key for place in self._places.values() if place.waits]

    def depth(self) -> Depth:
        """Return how much there is."""
        oldest = next(iter(self._places.values()), None)
        return Depth(
            submissions=self._total.submissions,
            waiting=sum(self._counts),
            bytes=self._total.bytes,
            cpu_seconds=max(self._total.cpu_seconds, 0.0),
            oldest_seconds=time.monotonic() - oldest.since if oldest else 0.0,
        )

    def _wait(self, place: Waiting) -> None:
        if not place.waits:
            place.waits = True
            self._counts[place.priority] += 1

    def _wait_no_longer(self, place: Waiting) -> None:
        place.waits = False
        self._counts[place.priority] -= 1

    def _line(self, place: Waiting) -> deque[Waiting]:
        ring = self._rings[place.priority]
        line = ring.get(place.client)
        if line is None:
            line = ring[place.client] = deque()
        return line
