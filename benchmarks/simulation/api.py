"""An API process of the simulated fleet: submits generated requests through `Intake` to the real queue."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import time
from collections.abc import Sequence
from functools import partial

from benchmarks.simulation.orders import Figures, Orders
from benchmarks.simulation.scenario import GROUPS, TESTS, service_settings
from sandbox_service import bootstrap
from sandbox_service.api.intake import Intake
from sandbox_service.errors import UnavailableError
from sandbox_service.fleet.queue import FleetQueue
from sandbox_service.queues.base import Job, Waiter
from sandbox_service.settings import Settings

BATCH = 64
MOST_TOGETHER = 8  # batches in one call: one call with all that fills 2,000 slots would take longer than its patience
AGAIN_SECONDS = 0.5  # until a client sends again what was refused for now
CODE_BYTES = 1500
FILL_SECONDS = 60.0  # for all slots to get a submission


class Api:
    """Submits, and waits for answers."""

    def __init__(self, settings: Settings, queue: FleetQueue) -> None:
        self._settings = settings
        self._queue = queue
        self._numbers = itertools.count()
        self._making = 0.0  # CPU seconds of making requests, a client's work
        self._outstanding = 0
        self._answered = 0
        self._faults = 0
        self._refused = 0  # submissions that were sent again, because Redis did not answer in time
        self._wanted = 0
        self._less = asyncio.Event()
        self._feeding: asyncio.Task[None] | None = None

    async def figures(self) -> Figures:
        """Return counters. CPU is that of the service alone."""
        return {
            "cpu": time.process_time() - self._making,
            "answered": self._answered,
            "faults": self._faults,
            "refused": self._refused,
        }

    async def load(self, outstanding: int) -> Figures:
        """Keep so many submissions pending until `drain`. Returns once they are."""
        self._wanted = outstanding
        self._feeding = self._feeding or asyncio.ensure_future(self._feed())
        deadline = time.monotonic() + FILL_SECONDS
        while self._outstanding + BATCH <= self._wanted and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        return {}

    async def drain(self) -> Figures:
        """Submit nothing more, and wait for all answers."""
        self._wanted = 0
        if self._feeding is not None:
            self._less.set()
            await self._feeding
            self._feeding = None
        return await self._all_answered()

    async def sparse(self, size: int, every: float, times: int) -> Figures:
        """Submit small groups at about regular times."""
        for _ in range(times):
            await self._submit([size])
            await asyncio.sleep(every * random.uniform(0.5, 1.5))
        return await self._all_answered()

    async def batch(self, count: int) -> Figures:
        """Submit one batch."""
        await self._submit([GROUPS[1]] * (count // GROUPS[1]) + ([count % GROUPS[1]] if count % GROUPS[1] else []))
        return await self._all_answered()

    async def _all_answered(self) -> Figures:
        while self._outstanding:
            self._less.clear()
            await self._less.wait()
        return {}

    async def _feed(self) -> None:
        while self._wanted:
            if self._outstanding + BATCH <= self._wanted:
                missing = self._wanted - self._outstanding
                times = min(missing // BATCH, MOST_TOGETHER) if missing > self._wanted // 2 else 1
                mixed = [GROUPS[0]] * (BATCH // 2 // GROUPS[0]) + [GROUPS[1]] * (BATCH // 2 // GROUPS[1])
                await self._submit(mixed * times)
            else:
                self._less.clear()
                await self._less.wait()

    async def _submit(self, groups: Sequence[int]) -> None:
        jobs = []
        for size in groups:
            began = time.thread_time()
            body = self._group(size)
            self._making += time.thread_time() - began
            jobs += await Intake(self._settings, self._queue.suite, "").many(body)
        self._outstanding += len(jobs)
        for ticket in await self._taken(jobs):
            ticket.answer.add_done_callback(partial(self._done, ticket))

    async def _taken(self, jobs: Sequence[Job]) -> list[Waiter]:
        """Submit jobs, again while Redis does not answer in time, as a client does after 503."""
        while True:
            try:
                return await self._queue.submit(jobs)
            except UnavailableError:
                self._refused += len(jobs)
                await asyncio.sleep(AGAIN_SECONDS)

    def _group(self, size: int) -> bytes:
        """Return the group of programs for one problem that a client sends."""
        group = f"{os.getpid()}.{next(self._numbers)}"
        tests = [{"type": "stdin", "input": f"{group} {each}\n" * 4, "output": f"{each}\n"} for each in range(TESTS)]
        code = f"# @{time.monotonic():.6f}@\nprint(input().split()[1])\n"
        code += "# every line of it is as long as this\n" * ((CODE_BYTES - len(code)) // 38)
        programs = [{"id": f"{group}.{each}", "code": f"{code}# {group}.{each}"} for each in range(size)]
        return json.dumps({"defaults": {"tests": tests}, "submissions": programs}).encode()

    def _done(self, ticket: Waiter, _: object) -> None:
        self._answered += 1
        self._faults += ticket.answer.result().is_fault
        ticket.release()
        self._outstanding -= 1
        self._less.set()


async def be_api() -> None:
    """Answer the requests on standard input."""
    orders = Orders()
    begin = await orders.first()
    settings = service_settings(begin["url"])
    async with bootstrap.fleet_queue(settings) as queue:
        api = Api(settings, queue)
        orders.reply({})
        await orders.obey(api)
