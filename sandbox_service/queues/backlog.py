"""What waits in one process, in the order in which it is to be done: by priority, and within one each client in turn.

Bounded as a whole and for each client. Nothing here waits or answers: these are the books.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sandbox_service.bounds import KINDS, MOST_TOGETHER, Bounds, never, over_all, over_share
from sandbox_service.errors import BodyTooLarge, QueueFull
from sandbox_service.queues.base import PRIORITIES, Depth, Job
from sandbox_service.queues.estimate import Estimate

LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS = 1.0, 60.0


@dataclass
class Load:
    """How much somebody has waiting or in work."""

    submissions: int = 0
    bytes: int = 0
    cpu_seconds: float = 0.0

    def add(self, other: Load, sign: int = 1) -> None:
        """Count more, or with sign −1 less."""
        self.submissions += sign * other.submissions
        self.bytes += sign * other.bytes
        self.cpu_seconds += sign * other.cpu_seconds

    def excess(self, more: Load, bounds: Bounds, clients: int) -> str | None:
        """In which respect this and `more` would be over a client's share of the bounds."""
        for kind in KINDS:
            have, want, most = getattr(self, kind), getattr(more, kind), getattr(bounds, kind) / clients
            if have + want > most:
                return over_share(kind, have, want, most, clients)
        return None

    def excess_of_all(self, total: Load, bounds: Bounds) -> str | None:
        """In which respect the others, who have all but this of the total, have too much together."""
        for kind in KINDS:
            others, most = getattr(total, kind) - getattr(self, kind), getattr(bounds, kind) * MOST_TOGETHER
            if others >= most:
                return over_all(kind, others, most)
        return None


def load_of(job: Job, estimate: Estimate) -> Load:
    """How much a submission is."""
    return Load(1, job.size, estimate.cost(job.tests))


def check_fits(loads: Iterable[Load], bounds: Bounds) -> None:
    """Raises BodyTooLarge if so many together would never be taken, were there nothing else. A single one always is."""
    together = Load()
    for load in loads:
        together.add(load)
    for kind in KINDS if together.submissions > 1 else ():
        want, most = getattr(together, kind), getattr(bounds, kind)
        if want > most:
            raise BodyTooLarge(never(kind, want, most))


@dataclass
class Waiting:
    """A place in the backlog."""

    key: str
    client: str
    priority: int
    load: Load
    since: float = field(default_factory=time.monotonic)


class Backlog:
    """The books of what was taken and is not answered."""

    def __init__(self, bounds: Bounds, slots: int) -> None:
        self._bounds = bounds
        self._slots = slots
        self._places: OrderedDict[str, Waiting] = OrderedDict()  # in order of arrival
        self._loads: dict[str, Load] = {}
        self._total = Load()
        self._rings: list[OrderedDict[str, deque[Waiting]]] = [OrderedDict() for _ in PRIORITIES]
        self._waiting: set[str] = set()

    def check_room(self, client: str, more: Load) -> None:
        """Raises QueueFull if a client may not have so much more; see bounds.py."""
        mine = self._loads.get(client, Load())
        excess = mine.excess_of_all(self._total, self._bounds)
        if excess is None and (mine.submissions or more.submissions > 1):
            excess = mine.excess(more, self._bounds, len(self._loads) + (client not in self._loads))
        if excess is not None:
            seconds = self._total.cpu_seconds / max(1, self._slots)
            raise QueueFull(excess, min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS))

    def add(self, place: Waiting) -> None:
        """Count it, and let it wait behind its client's others."""
        self._places[place.key] = place
        self._loads.setdefault(place.client, Load()).add(place.load)
        self._total.add(place.load)
        self._line(place).append(place)
        self._waiting.add(place.key)

    def put_back(self, key: str) -> None:
        """What was taken to be done waits again, before its client's others."""
        place = self._places[key]
        self._line(place).appendleft(place)
        self._rings[place.priority].move_to_end(place.client, last=False)
        self._waiting.add(key)

    def next(self) -> str | None:
        """Take what is to be done next: the highest priority first, and of one priority each client in turn."""
        for ring in self._rings:
            while ring:
                client, line = next(iter(ring.items()))
                place = line.popleft()
                is_wanted = place.key in self._waiting and self._places[place.key] is place
                if not line:
                    del ring[client]
                elif is_wanted:  # what is stepped over costs no turn
                    ring.move_to_end(client)
                if is_wanted:
                    self._waiting.discard(place.key)
                    return place.key
        return None

    def remove(self, key: str) -> None:
        """It is answered, or nobody wants it. If it waits in a line, the line will step over it."""
        place = self._places.pop(key)
        self._waiting.discard(key)
        self._total.add(place.load, -1)
        load = self._loads[place.client]
        load.add(place.load, -1)
        if not load.submissions:
            del self._loads[place.client]
        if not self._places:
            self._total = Load()  # sums of fractions drift

    def waiting(self) -> list[str]:
        """Everything that waits to be done."""
        return list(self._waiting)

    def depth(self) -> Depth:
        """How much there is."""
        oldest = next(iter(self._places.values()), None)
        return Depth(
            submissions=self._total.submissions,
            waiting=len(self._waiting),
            bytes=self._total.bytes,
            cpu_seconds=max(self._total.cpu_seconds, 0.0),
            oldest_seconds=time.monotonic() - oldest.since if oldest else 0.0,
        )

    def _line(self, place: Waiting) -> deque[Waiting]:
        return self._rings[place.priority].setdefault(place.client, deque())
