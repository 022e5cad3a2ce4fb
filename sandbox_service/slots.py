"""The service's side of its slot processes: start them, give them work one piece at a time, notice when one dies."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from sandbox_service import frames
from sandbox_service.suites import Shelf, Suite

log = logging.getLogger(__name__)

RESTART_SECONDS = 0.1
LONGEST_RESTART_SECONDS = 5.0
KILL_AFTER_SECONDS = 5.0


class Owner(Protocol):
    """What a slot tells whoever owns it. All are called in the event loop."""

    def slot_free(self) -> None:
        """A slot can take work."""

    def slot_done(self, key: int, grade: bytes | None) -> None:
        """A submission is graded, and this is the grade's JSON; None: it was cancelled."""

    def slot_lost(self, key: int) -> None:
        """The slot died with this submission in hand."""

    def slot_failed(self) -> None:
        """A slot says that it cannot grade, or ended before it could say that it can."""


class _Wire(asyncio.Protocol):
    """The service's end of a slot's socket: every message is handled as soon as it is here."""

    def __init__(self, handle: Callable[[frames.Frame], None]) -> None:
        self._handle = handle
        self._unpacker = frames.Unpacker()
        self.has_ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        for frame in self._unpacker.feed(data):
            self._handle(frame)

    def connection_lost(self, _: Exception | None) -> None:
        """See asyncio.Protocol."""
        self.has_ended.set()


class SlotProcess:
    """One slot process, started again whenever it ends."""

    def __init__(self, index: int, owner: Owner, locks: tuple[int, int]) -> None:
        self.index = index
        self.ready = False
        self.failed_since: float | None = None  # it has tried, and cannot grade
        self.reason = "starting"
        self.language = ""
        self.restarts = -1
        self._owner = owner
        self._locks = locks
        self._key: int | None = None
        self._false_starts = 0
        self._writer: asyncio.WriteTransport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._shelf: Shelf[bool] = Shelf(frames.SUITES, frames.SUITES_BYTES)  # what the process has on its own
        self._task = asyncio.create_task(self._supervise())

    @property
    def free(self) -> bool:
        """Whether it can take a submission now."""
        return self.ready and self._key is None and self._writer is not None

    @property
    def busy(self) -> bool:
        """Whether it has a submission in hand."""
        return self._key is not None

    @property
    def pid(self) -> int | None:
        """Its process id, while there is a process."""
        return self._process.pid if self._process else None

    def give(self, key: int, suite: Suite, body: bytes) -> None:
        """Hand it a submission and, unless it has it, its suite. Only when it is free."""
        assert self._writer is not None
        self._key = key
        if self._shelf.get(suite.id) is None:
            self._shelf.put(suite.id, True, len(suite.body))
            self._writer.write(frames.pack(frames.SUITE, 0, suite.id.encode() + suite.body))
        self._writer.write(frames.pack(frames.SUBMIT, key, suite.id.encode() + body))

    def cancel(self, key: int) -> None:
        """Nobody waits for this one any more: stop after the test that is running."""
        if self._writer is not None and self._key == key:
            self._writer.write(frames.pack(frames.CANCEL, key))

    async def close(self) -> None:
        """End the process and its jails."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _supervise(self) -> None:
        pause = RESTART_SECONDS
        while True:
            self.restarts += 1
            began = time.monotonic()
            try:
                await self._live()
            finally:
                was_ready, self.ready, self._writer = self.ready, False, None
                await self._bury()
            key, self._key = self._key, None
            log.warning("slot_ended", extra={"slot": self.index})
            self._note_end(was_ready=was_ready)
            if key is not None:
                self._owner.slot_lost(key)
            pause = RESTART_SECONDS if time.monotonic() - began > LONGEST_RESTART_SECONDS else min(pause * 2, 5.0)
            await asyncio.sleep(pause)

    async def _live(self) -> None:
        """Start the process and listen to it until its end."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = self._start(theirs.fileno())
        self._shelf.clear()
        self._writer, wire = await asyncio.get_running_loop().create_unix_connection(
            lambda: _Wire(self._handle), sock=ours
        )
        try:
            await wire.has_ended.wait()
        finally:
            self._writer.close()

    def _start(self, connection: int) -> subprocess.Popen[bytes]:
        gate, room = self._locks
        options = {"index": self.index, "connection": connection, "gate": gate, "room": room}
        return subprocess.Popen(
            [sys.executable, "-m", "sandbox_service.slot", json.dumps(options)],
            pass_fds=(connection, gate, room),
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PYTHONSAFEPATH": "1"},
        )

    def _handle(self, frame: frames.Frame) -> None:
        if frame.kind == frames.STATUS:
            status = json.loads(frame.payload)
            self.ready, self.reason, self.language = status["ready"], status["reason"], status["language"]
            self._note_health()
        else:
            self._key = None
            self._owner.slot_done(frame.key, frame.payload if frame.kind == frames.GRADE else None)
        if self.free:
            self._owner.slot_free()

    def _note_health(self) -> None:
        """Since when it has failed, if it has; whoever waits for it is told."""
        if self.ready:
            self._false_starts, self.failed_since = 0, None
        else:
            self.failed_since = self.failed_since or time.monotonic()
            self._owner.slot_failed()

    def _note_end(self, *, was_ready: bool) -> None:
        """A process that ends may have been killed; two in a row that never were ready cannot grade."""
        self.reason = "restarting" if was_ready else "its process ended before it was ready; the log may say why"
        self._false_starts += not was_ready
        if self._false_starts > 1:
            self._note_health()

    async def _bury(self) -> None:
        """The connection is closed, on which it ends itself and its jails; be sure of it."""
        process = self._process
        if process is None:
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(process.wait), KILL_AFTER_SECONDS)
        if process.poll() is None:
            process.kill()
            process.wait()


def open_locks() -> tuple[int, int]:
    """The two nameless files that slots lock to run alone (see jails/quiet.py)."""
    return os.memfd_create("gate"), os.memfd_create("room")


SlotFactory = Callable[[int, Owner], SlotProcess]
