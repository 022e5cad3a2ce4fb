"""A slot process, as the service sees it: starts it, gives it one submission at a time, restarts it when it ends."""

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

from sandbox_service.grading.suites import LruCache, Suite
from sandbox_service.slots import protocol

log = logging.getLogger(__name__)

RESTART_SECONDS = 0.1
LONGEST_RESTART_SECONDS = 5.0
KILL_AFTER_SECONDS = 5.0


class SlotOwner(Protocol):
    """Is called by its slots, in the event loop."""

    def slot_free(self) -> None:
        """Handle that a slot can take a submission."""

    def slot_done(self, key: int, grade: bytes | None) -> None:
        """Handle the grade, in JSON, of the submission with this key; None if it was cancelled."""

    def slot_paused(self, key: int, progress: bytes) -> None:
        """Handle that the submission with this key was paused; `progress` says how far it came."""

    def slot_lost(self, key: int) -> None:
        """Handle that the slot process ended while it had the submission with this key."""

    def slot_failed(self) -> None:
        """Handle that a slot cannot grade, or ended before it was ready."""


class _SlotConnection(asyncio.Protocol):
    """The service's end of a slot's socket; handles each message when it arrives."""

    def __init__(self, handle: Callable[[protocol.Frame], None]) -> None:
        self._handle = handle
        self._unpacker = protocol.Unpacker()
        self.has_ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        for frame in self._unpacker.feed(data):
            self._handle(frame)

    def connection_lost(self, _: Exception | None) -> None:
        """See asyncio.Protocol."""
        self.has_ended.set()


class SlotProcess:
    """One slot process, restarted whenever it ends."""

    def __init__(self, index: int, owner: SlotOwner, locks: tuple[int, int]) -> None:
        self.index = index
        self.ready = False
        self.failed_since: float | None = None  # monotonic; None if it can grade or is starting
        self.reason = "starting"
        self.language = ""
        self._owner = owner
        self._locks = locks
        self._key: int | None = None
        self._false_starts = 0
        self._writer: asyncio.WriteTransport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._sent_suites: LruCache[bool] = LruCache(
            protocol.SUITES, protocol.SUITES_BYTES
        )  # as the process keeps them
        self._task = asyncio.create_task(self._supervise())

    @property
    def free(self) -> bool:
        """Return whether it can take a submission now."""
        writer = self._writer  # closing: the process has ended, which shows here before `_supervise` runs
        return self.ready and self._key is None and writer is not None and not writer.is_closing()

    @property
    def busy(self) -> bool:
        """Return whether it has a submission."""
        return self._key is not None

    @property
    def pid(self) -> int | None:
        """Return its process id; None if there is no process."""
        return self._process.pid if self._process else None

    def give(self, key: int, suite: Suite, body: bytes, progress: bytes = b"") -> None:
        """Send it a submission, and its suite unless it has that. Only when it is `free`.

        Args:
            key: names the submission in calls of the owner.
            suite: its tests.
            body: its JSON.
            progress: from the slot that paused it; empty if it was not begun.
        """
        self._key = key
        if self._sent_suites.get(suite.id) is None:
            self._sent_suites.put(suite.id, True, len(suite.body))
            self._send(protocol.SUITE, 0, suite.id.encode(), suite.body)
        head = protocol.work_head(progress) if progress else protocol.NO_PROGRESS
        self._send(protocol.SUBMIT, key, suite.id.encode() + head, body)

    def _send(self, kind: int, key: int, head: bytes = b"", body: bytes = b"") -> None:
        """Write a message, unless the process has ended. A large body is written separately and not copied."""
        writer = self._writer
        if writer is None or writer.is_closing():
            return
        header = protocol.HEADER.pack(len(head) + len(body), kind, key)
        if len(body) <= protocol.CHUNK:
            writer.write(b"".join((header, head, body)))
        else:
            writer.write(header + head)
            writer.write(body)

    def pause(self, key: int) -> None:
        """Ask it to return the submission with this key after the test that is running, unless that is the last."""
        if self._key == key:
            self._send(protocol.PAUSE, key)

    def cancel(self, key: int) -> None:
        """Ask it to stop the submission with this key after the test that is running."""
        if self._key == key:
            self._send(protocol.CANCEL, key)

    async def close(self) -> None:
        """Stop the process and its jails."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _supervise(self) -> None:
        pause = RESTART_SECONDS
        while True:
            began = time.monotonic()
            try:
                await self._run()
            finally:
                was_ready, self.ready, self._writer = self.ready, False, None
                await self._reap()
            key, self._key = self._key, None
            log.warning("slot_ended", extra={"slot": self.index})
            self._note_end(was_ready=was_ready)
            if key is not None:
                self._owner.slot_lost(key)
            has_lasted = time.monotonic() - began > LONGEST_RESTART_SECONDS
            pause = RESTART_SECONDS if has_lasted else min(2 * pause, LONGEST_RESTART_SECONDS)
            await asyncio.sleep(pause)

    async def _run(self) -> None:
        """Start the process and handle its messages until it ends."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = self._start(theirs.fileno())
        self._sent_suites.clear()
        self._writer, wire = await asyncio.get_running_loop().create_unix_connection(
            lambda: _SlotConnection(self._handle), sock=ours
        )
        try:
            await wire.has_ended.wait()
        finally:
            self._writer.close()

    def _start(self, connection: int) -> subprocess.Popen[bytes]:
        gate, room = self._locks
        options = {"index": self.index, "connection": connection, "gate": gate, "room": room}
        return subprocess.Popen(
            [sys.executable, "-m", "sandbox_service.slots.main", json.dumps(options)],
            pass_fds=(connection, gate, room),
            stdin=subprocess.DEVNULL,
            # strings in answers are chosen by submissions: with a known seed, their hashes could be made to collide
            env=os.environ | {"PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "random"},
        )

    def _handle(self, frame: protocol.Frame) -> None:
        if frame.kind == protocol.STATUS:
            status = json.loads(frame.payload)
            self.ready, self.reason, self.language = status["ready"], status["reason"], status["language"]
            self._note_health()
        else:
            self._key = None
            if frame.kind == protocol.PAUSED:
                self._owner.slot_paused(frame.key, frame.payload)
            else:
                self._owner.slot_done(frame.key, frame.payload if frame.kind == protocol.GRADE else None)
        if self.free:
            self._owner.slot_free()

    def _note_health(self) -> None:
        """Update `failed_since`, and tell the owner of a failure."""
        if self.ready:
            self._false_starts, self.failed_since = 0, None
        else:
            self.failed_since = self.failed_since or time.monotonic()
            self._owner.slot_failed()

    def _note_end(self, *, was_ready: bool) -> None:
        """Note the end of the process. Two in a row that were never ready are a failure; one may have been killed."""
        self.reason = "restarting" if was_ready else "its process ended before it was ready; the log may say why"
        self._false_starts += not was_ready
        if self._false_starts > 1:
            self._note_health()

    async def _reap(self) -> None:
        """Wait for the process, which ends when its connection is closed, and kill it if it does not."""
        process = self._process
        if process is None:
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(process.wait), KILL_AFTER_SECONDS)
        if process.poll() is None:
            process.kill()
            process.wait()


def open_locks() -> tuple[int, int]:
    """Return the two anonymous files that slots lock to run alone; see sandbox/exclusive.py."""
    return os.memfd_create("gate"), os.memfd_create("room")


SlotFactory = Callable[[int, SlotOwner], SlotProcess]
