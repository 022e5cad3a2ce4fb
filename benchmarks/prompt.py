"""A worker of a fleet whose slots answer at once: what is left is what a fleet costs beside grading. See working.py."""

from __future__ import annotations

import asyncio
import signal
from typing import cast

import uvloop

from sandbox_service import bootstrap, garbage
from sandbox_service.hands import Pump
from sandbox_service.schema import Grade, GraderIdentity, TestResult, Timing, Verdict
from sandbox_service.settings import Settings
from sandbox_service.slots import Owner, SlotFactory
from sandbox_service.suites import Suite
from sandbox_service.worker import Worker

SLOTS, TESTS = 2, 10


class PromptSlot:
    """A slot that says the same of everything, in the next turn of the loop."""

    def __init__(self, index: int, owner: Owner) -> None:
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

    def give(self, key: int, suite: Suite, body: bytes) -> None:
        """See slots.SlotProcess."""
        assert suite.body
        assert body
        self._key = key
        asyncio.get_running_loop().call_soon(self._answer, key)

    def cancel(self, key: int) -> None:
        """See slots.SlotProcess: it is answered already."""

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
    async with bootstrap.ledger(settings) as books:
        garbage.settle()
        make_slot = cast("SlotFactory", PromptSlot)
        url, name = settings.redis_url, settings.redis_name
        worker = Worker(books, make_slot, SLOTS, lambda own, take: Pump(url, name, own, take), settings.suite_bytes)
        await worker.run(stop, 1.0)


if __name__ == "__main__":
    uvloop.run(main(Settings.from_environment()))
