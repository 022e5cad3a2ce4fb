"""The reaper, with a ledger that counts beats and a clock of its own: who is dead, and when."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox_service.fleet import reaper
from sandbox_service.fleet.ledger.intervals import beat_seconds, dead_seconds
from sandbox_service.fleet.reaper import Reaper

LOOK_SECONDS = 0.5

pytestmark = pytest.mark.anyio


class FakeLedger:
    """Workers that beat at regular times, but for those that are silent."""

    def __init__(self, workers: int) -> None:
        self.now = 1000.0
        self.pauses = {f"w{number}": beat_seconds(workers) for number in range(workers)}
        self.silent: set[str] = set()
        self.reaped: dict[str, float] = {}
        self._counts = dict.fromkeys(self.pauses, 1)
        self._next = {
            name: self.now + pause * (number / workers)
            for number, (name, pause) in enumerate(self.pauses.items(), start=1)
        }

    def remove(self, names: set[str]) -> None:
        """Let workers leave. The others learn of it with their next beat."""
        for name in names:
            del self._counts[name]

    def delay(self, seconds: float) -> None:
        """Let the next beats be late."""
        self._next = {name: at + seconds for name, at in self._next.items()}

    async def lead(self, *_: Any) -> bool:
        """See Ledger."""
        return True

    async def mend(self) -> bool:
        """See Ledger."""
        return False

    async def reap(self, worker: str) -> list[Any]:
        """See Ledger."""
        if self._counts.pop(worker, None):
            self.reaped[worker] = self.now
        return []

    async def beats(self) -> Mapping[str, int]:
        """See Ledger."""
        for name in self._counts.keys() - self.silent:
            while self._next[name] <= self.now:
                self._counts[name] += 1
                self._next[name] += beat_seconds(len(self._counts)) if self._next[name] > 1000 else self.pauses[name]
        return dict(self._counts)


@pytest.fixture
def ledger(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeLedger:
    """A ledger with as many workers as the test says, whose clock is that of the reaper."""
    made = FakeLedger(request.param)
    monkeypatch.setattr(reaper, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


async def look(ledger: FakeLedger, each: Iterator[float], times: int, watch: Reaper) -> None:
    """Look so many times, after these seconds each."""
    for seconds in itertools.islice(each, times):
        ledger.now += seconds
        await watch.look()


def made(ledger: FakeLedger) -> Reaper:
    """Return a reaper with this ledger."""
    fake: Any = ledger
    return Reaper(fake, "api")


SIZES = [1, 100, 125, 200, 250, 375, 500, 1000, 3000]


@pytest.mark.parametrize("ledger", SIZES, indirect=True)
async def test_only_a_silent_worker_is_dead_and_after_the_documented_time(ledger: FakeLedger) -> None:
    watch, workers = made(ledger), len(ledger.pauses)
    await look(ledger, itertools.repeat(LOOK_SECONDS), 40, watch)
    assert ledger.reaped == {}
    since = ledger.now
    ledger.silent = {"w0"}
    await look(ledger, itertools.repeat(LOOK_SECONDS), 40, watch)
    assert list(ledger.reaped) == ["w0"]
    passed = ledger.reaped["w0"] - since  # the last beat may be as old as the time between two
    assert (
        dead_seconds(workers) - beat_seconds(workers) - LOOK_SECONDS <= passed <= dead_seconds(workers) + LOOK_SECONDS
    )


@pytest.mark.parametrize("workers", SIZES)
def test_a_dead_worker_is_noticed_about_as_soon_as_by_the_version_before(workers: int) -> None:
    before = 4 * min(max(0.5, workers * 0.002), 2.0)
    assert before <= dead_seconds(workers) <= before + 0.5
    assert beat_seconds(workers) <= before / 2  # a reaper of that version sees two beats in its time
    assert dead_seconds(workers) - beat_seconds(workers) >= 1.499


@pytest.mark.parametrize("ledger", [1000], indirect=True)
async def test_workers_that_learn_late_that_the_fleet_has_shrunk_are_not_dead(ledger: FakeLedger) -> None:
    watch = made(ledger)
    await look(ledger, itertools.repeat(LOOK_SECONDS), 20, watch)
    ledger.remove({f"w{number}" for number in range(1000) if number % 100})
    ledger.delay(1.0)
    await look(ledger, itertools.repeat(LOOK_SECONDS), 120, watch)
    assert ledger.reaped == {}
    ledger.silent, since = {"w300"}, ledger.now
    await look(ledger, itertools.repeat(LOOK_SECONDS), 20, watch)
    assert ledger.reaped["w300"] - since <= 3.0  # the size of before is forgotten


@pytest.mark.parametrize("ledger", [3], indirect=True)
async def test_time_in_which_nobody_looked_does_not_count(ledger: FakeLedger) -> None:
    watch = made(ledger)
    await look(ledger, itertools.repeat(LOOK_SECONDS), 4, watch)
    ledger.silent = set(ledger.pauses)
    await look(ledger, itertools.repeat(60.0), 2, watch)
    assert ledger.reaped == {}
