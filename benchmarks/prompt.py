"""A fleet worker whose slots answer at once, to measure the cost of the fleet without grading."""

from __future__ import annotations

import asyncio
import signal
from typing import cast

import uvloop

from sandbox_service import bootstrap, event_loop
from sandbox_service.fleet.wakeup import JobListener
from sandbox_service.fleet.worker import Worker
from sandbox_service.grading.suites import Suite
from sandbox_service.schema import Grade, GraderIdentity, TestResult, Timing, Verdict
from sandbox_service.settings import Settings
from sandbox_service.slots.process import SlotFactory, SlotOwner

SLOTS, TESTS = 2, 10


class PromptSlot:
    """A slot that gives every submission the same answer, in the next iteration of the loop."""

    def __init__(self, index: int, owner: SlotOwner) -> None:
        self.index = index
        self.ready = True
        self.failed_since: float | None = None
        self.reason = ""
        self.language = "Prompt 1"
        self._owner = owner
        self._key: int | None = None

    @property
    def free(self) -> bool:
        """See slots.SlotProcess."""
        return self._key is None

    def give(self, key: int, suite: Suite, body: bytes, _: bytes = b"") -> None:
        """See slots.SlotProcess."""
        assert suite.body
        assert body
        self._key = key
        asyncio.get_running_loop().call_soon(self._answer, key)

    def pause(self, key: int) -> None:
        """See slots.SlotProcess. Nothing to do: it has no tests to stop between."""

    def cancel(self, key: int) -> None:
        """See slots.SlotProcess. Nothing to do: the answer has been sent."""

    async def close(self) -> None:
        """See slots.SlotProcess."""

    def _answer(self, key: int) -> None:
        self._key = None
        self._owner.slot_done(key, ANSWER)
        self._owner.slot_free()


def _answer() -> Grade:
    tests = [
        TestResult(
            index=each,
            verdict=Verdict.AC,
            cpu_seconds=0.00123,
            wall_seconds=0.0014,
            peak_memory_bytes=12_345_678,
            stdout="3\n",
        )
        for each in range(TESTS)
    ]
    identity = GraderIdentity(language="Prompt 1")
    timing = Timing(graded_seconds=0.0001)
    return Grade(
        id="", verdict=Verdict.AC, reward=1.0, passed=TESTS, total=TESTS, tests=tests, timing=timing, grader=identity
    )


ANSWER = _answer().model_dump_json().encode()


async def main(settings: Settings) -> None:
    """Work until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with bootstrap.ledger(settings) as ledger:
        event_loop.tune_gc()
        make_slot = cast("SlotFactory", PromptSlot)
        url, name = settings.redis_url, settings.redis_name
        worker = Worker(
            ledger, make_slot, SLOTS, lambda own, take: JobListener(url, name, own, take), settings.suite_bytes
        )
        await worker.run(stop, 1.0)


if __name__ == "__main__":
    uvloop.run(main(Settings.from_environment()))
