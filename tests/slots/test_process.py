"""A slot process that ends: its owner is told, and nothing is written to it between its end and that."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
import uvloop

from sandbox_service.slots import process, protocol
from sandbox_service.slots.process import SlotProcess
from tests.fakes import made, suite_of, until
from tests.guards import HANG_GUARD_SECONDS

READY = protocol.pack(protocol.STATUS, 0, json.dumps({"ready": True, "reason": "", "language": "x"}).encode())
STAND_IN = f"import os, sys, time; os.write(int(sys.argv[1]), {READY!r}); time.sleep({HANG_GUARD_SECONDS})"


class Owner:
    """An owner that records what its slot loses."""

    def __init__(self) -> None:
        self.lost: list[int] = []

    def slot_lost(self, key: int) -> None:
        self.lost.append(key)

    def slot_free(self) -> None:
        """Ignored: the test looks itself."""

    def slot_failed(self) -> None:
        """Ignored."""


def start_stand_in(_: SlotProcess, connection: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", STAND_IN, str(connection)], pass_fds=(connection,))


def test_a_process_that_has_ended_takes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlotProcess, "_start", start_stand_in)
    job, owner, was_free = made("x", suite=suite_of(2)), Owner(), []
    slot: Any = None

    def look() -> None:
        """The moment at which the connection is closed, and the task that supervises the process has not run yet."""
        was_free.append(slot.free)
        slot.give(1, job.suite, job.body)  # as if it had been free when it was chosen
        slot.pause(1)
        slot.cancel(1)

    def connection_lost(self: Any, _: Exception | None) -> None:
        asyncio.get_running_loop().call_soon(look)
        self.has_ended.set()

    monkeypatch.setattr(process._SlotConnection, "connection_lost", connection_lost)

    async def scenario() -> None:
        nonlocal slot
        failures: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        slot = SlotProcess(0, owner, (0, 0))  # type: ignore[arg-type]
        await until(lambda: slot.free)
        slot._process.kill()
        await until(lambda: bool(owner.lost))
        await slot.close()
        assert failures == []

    uvloop.run(asyncio.wait_for(scenario(), HANG_GUARD_SECONDS))
    assert (was_free[0], owner.lost) == (False, [1])
