"""The beats of a worker in a large fleet: when the next one comes, also after one that has failed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox_service.fleet import heartbeat
from sandbox_service.fleet.heartbeat import Heartbeat
from sandbox_service.fleet.ledger.entries import Elsewhere, Exchanged, Need
from sandbox_service.fleet.ledger.intervals import beat_seconds, dead_seconds

WORKERS = 1000
POOL: Any = SimpleNamespace(busy=2, ready=2, idle=0)
TOLD = Exchanged([], Need(0, WORKERS, 2 * WORKERS), Elsewhere(0, 3), [], {})

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between beats, none of which is waited for."""
    found: list[float] = []

    async def wait_event(_: asyncio.Event, seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(heartbeat, "wait_event", wait_event)
    return found


class FakeLedger:
    """A Redis that can be away."""

    is_away = False

    async def beat(self, *_: Any) -> Exchanged:
        """See Ledger."""
        if self.is_away:
            raise ConnectionError
        return TOLD


async def test_a_beat_that_failed_is_repeated_long_before_the_worker_is_dead(waits: list[float]) -> None:
    ledger: Any = FakeLedger()
    beats = Heartbeat(ledger)
    await beats.reply("w", POOL)
    await beats.wait()
    ledger.is_away = True
    with pytest.raises(ConnectionError):
        await beats.reply("w", POOL)
    beats.failed()
    await beats.wait()
    ledger.is_away = False
    await beats.reply("w", POOL)
    await beats.wait()
    assert waits == [beat_seconds(WORKERS), beat_seconds(1), beat_seconds(WORKERS)]
    assert dead_seconds(WORKERS) - sum(waits[:2]) > 3.0


async def test_a_beat_goes_along_in_the_second_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(heartbeat, "time", SimpleNamespace(monotonic=lambda: clock.now))
    ledger: Any = FakeLedger()
    beats = Heartbeat(ledger)
    await beats.reply("w", POOL)
    clock.now += beat_seconds(WORKERS) / 2 - 0.1
    assert beats.due(POOL) is None
    clock.now += 0.2
    assert beats.due(POOL) == (2, 2, 0)
