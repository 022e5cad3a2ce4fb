"""What waits in one process, in the order in which it is to be done: by priority, and within one each client in turn.

Bounded as a whole and for each client. Nothing here waits or answers: these are the books.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from sandbox_service.errors import QueueFull
from sandbox_service.queues.base import PRIORITIES, Bounds, Depth

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

    def excess(self, more: Load, bounds: Bounds, share: float) -> str | None:
        """In which respect this and `more` would be over a share of the bounds."""
        for name in ("submissions", "bytes", "cpu_seconds"):
            have, want, most = getattr(self, name), getattr(more, name), getattr(bounds, name) * share
            if have + want > most:
                return f"{have:.0f} {name} are waiting, and with {want:.0f} more it would be over {most:.0f}"
        return None


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
        """Raises QueueFull if a client may not have so much more."""
        mine = self._loads.get(client)
        if mine is None and more.submissions == 1:
            return
        clients = len(self._loads) + (mine is None)
        excess = (mine or Load()).excess(more, self._bounds, 1 / clients)
        if excess is not None:
            seconds = self._total.cpu_seconds / max(1, self._slots)
            shared = f" (shared among {clients} clients)" if clients > 1 else ""
            raise QueueFull(excess + shared, min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS))

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
