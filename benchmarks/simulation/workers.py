"""A process with many workers of the service, whose slots sleep instead of grading."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast

from benchmarks.simulation.orders import Figures, Orders
from benchmarks.simulation.scenario import REAL_SECONDS, SLOTS, SPREAD, STAMP, TESTS, service_settings
from sandbox_service import bootstrap
from sandbox_service.fleet.wakeup import JobListener
from sandbox_service.fleet.worker import Worker
from sandbox_service.grading.suites import Suite
from sandbox_service.schema import Grade, TestResult, Timing, Verdict
from sandbox_service.settings import Settings
from sandbox_service.slots.process import SlotFactory, SlotOwner

REGISTER_SECONDS = 0.01  # between the registrations of two workers of a process


@dataclass
class Times:
    """How long slots sleep, and what they did."""

    mean: float = REAL_SECONDS
    waits: deque[float] = field(default_factory=lambda: deque(maxlen=100_000))
    spans: deque[tuple[str, float, float]] = field(default_factory=lambda: deque(maxlen=100_000))


class SleepingSlot:
    """A slot that sleeps and then gives the same answer."""

    def __init__(self, index: int, owner: SlotOwner, times: Times) -> None:
        self.index = index
        self.ready = True
        self.failed_since: float | None = None
        self.reason = ""
        self.language = "Sleep 1"
        self._name = secrets.token_hex(8)
        self._owner = owner
        self._times = times
        self._key: int | None = None

    @property
    def free(self) -> bool:
        """See SlotProcess."""
        return self._key is None

    def give(self, key: int, suite: Suite, body: bytes, _: bytes = b"") -> None:
        """See SlotProcess."""
        self._key, now = key, time.monotonic()
        stamp = STAMP.search(body)
        assert stamp is not None
        assert suite.body
        self._times.waits.append(now - float(stamp[1]))
        seconds = self._times.mean * random.uniform(1 - SPREAD, 1 + SPREAD)
        asyncio.get_running_loop().call_later(seconds, self._answer, key, now)

    def pause(self, key: int) -> None:
        """See SlotProcess; does nothing."""

    def cancel(self, key: int) -> None:
        """See SlotProcess; does nothing."""

    async def close(self) -> None:
        """See SlotProcess."""

    def _answer(self, key: int, began: float) -> None:
        self._key = None
        self._times.spans.append((self._name, began, time.monotonic()))
        self._owner.slot_done(key, ANSWER.replace(SECONDS, b"%.6f" % (time.monotonic() - began)))
        self._owner.slot_free()


SECONDS = b"987654.125"  # in ANSWER, in place of those that the slot has slept
ANSWER = (
    Grade(
        id="",
        verdict=Verdict.AC,
        reward=1.0,
        passed=TESTS,
        total=TESTS,
        tests=[
            TestResult(
                index=each,
                verdict=Verdict.AC,
                cpu_seconds=0.012345,
                wall_seconds=0.013456,
                peak_memory_bytes=12_345_678,
                stdout=f"{each}\n",
            )
            for each in range(TESTS)
        ],
        timing=Timing(graded_seconds=float(SECONDS)),
    )
    .model_dump_json()
    .encode()
)


class Hosts:
    """Many workers in one process."""

    def __init__(self, times: Times) -> None:
        self._times = times

    async def figures(self) -> Figures:
        """Return counters."""
        return {"cpu": time.process_time()}

    async def mean(self, seconds: float) -> Figures:
        """Set the mean seconds that slots sleep."""
        self._times.mean = seconds
        return {}

    async def spans(self) -> Figures:
        """Return what the slots did since the last call."""
        found = {"waits": list(self._times.waits), "spans": list(self._times.spans)}
        self._times.waits.clear()
        self._times.spans.clear()
        return found


async def be_workers() -> None:
    """Answer the requests on standard input."""
    orders = Orders()
    begin = await orders.first()
    settings, times = service_settings(begin["url"]), Times()
    async with contextlib.AsyncExitStack() as stack:
        running = []
        for _ in range(begin["count"]):
            ledger = await stack.enter_async_context(bootstrap.ledger(settings))
            make = cast("SlotFactory", lambda index, owner: SleepingSlot(index, owner, times))
            worker = Worker(ledger, make, SLOTS, _listener_of(settings), settings.suite_bytes)
            running.append(asyncio.ensure_future(worker.run(asyncio.Event(), 0.0)))
            await asyncio.sleep(REGISTER_SECONDS)
        orders.reply({})
        obeying = asyncio.ensure_future(orders.obey(Hosts(times)))
        done, _ = await asyncio.wait([obeying, *running], return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()


def _listener_of(settings: Settings) -> Any:
    return lambda name, take: JobListener(settings.redis, settings.redis_name, name, take)
