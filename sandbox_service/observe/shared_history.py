"""Shares the recent submissions of a fleet's API processes through a bounded stream in Redis.

Each process appends what it has answered, many submissions at a time, and the suites of verdicts that a recheck did not
confirm (flips). It reads the others' when a client asks for recent submissions. The stream outlives the processes, so
that a new one shows what was answered before. Redis drops the oldest parts. A failure of Redis loses parts of the
history and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, fields, replace
from typing import Any, NamedTuple

import orjson
from redis.exceptions import RedisError
from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from sandbox_service.event_loop import cancel_tasks, wait_event
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.grading.suites import Suite
from sandbox_service.observe.history import History
from sandbox_service.observe.records import Record

log = logging.getLogger(__name__)

PART_RECORDS = 64
PART_BYTES = 128 << 10  # of programs and answers in one part, about
WHOLE_BYTES = 64 << 10  # a record with more is shared without its program and answer
FLUSH_SECONDS = 1.0
REFRESH_SECONDS = 1.0  # between two reads
PAGE = 50  # parts of one read
MOST_UNPACKED = 64 << 20  # bytes of one part; a small frame can declare any size
LOG_SECONDS = 60.0
LEVEL = -3
FIELDS = frozenset(each.name for each in fields(Record))


class Flip(NamedTuple):
    """A verdict that a recheck did not confirm: the process that found it, and the suite."""

    process: str
    suite: str


class SharedHistory:
    """Appends the records of a history to the stream, and adds those of the others to it.

    Args:
        ledger: Of the fleet.
        history: Of this process.
        parts: The most parts that the stream keeps, about.
    """

    def __init__(self, ledger: Ledger, history: History, parts: int) -> None:
        self._ledger = ledger
        self._history = history
        self._parts = parts
        self._unsent: list[Record] = []
        self._unsent_bytes = 0
        self._flips: list[Flip] = []
        self._last = "0"
        self._read_at = -REFRESH_SECONDS
        self._reading = asyncio.Lock()
        self._logged_at = -LOG_SECONDS
        self._is_full = asyncio.Event()
        history.listen(self._added, self._flipped)
        history.source = self.refresh

    async def run(self) -> None:
        """Append new answers, each second or when there are enough for a part."""
        while True:
            await wait_event(self._is_full, FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Append the answers that are not in the stream."""
        self._is_full.clear()
        self._history.flush()
        unsent, self._unsent, self._unsent_bytes = self._unsent, [], 0
        flips, self._flips = self._flips, []
        for at in range(0, len(unsent), PART_RECORDS):
            await self._append(await asyncio.to_thread(pack, unsent[at : at + PART_RECORDS]))
        if flips:  # apart: an older version cannot read such a part
            await self._append(pack(flips))

    async def _append(self, part: bytes) -> None:
        try:
            await self._ledger.append_recent(part, self._parts)
        except (RedisError, OSError) as error:
            self._failed(error)

    async def refresh(self) -> None:
        """Add the answers of the other processes since the last call."""
        async with self._reading:
            if time.monotonic() - self._read_at < REFRESH_SECONDS:
                return
            try:
                while found := await self._ledger.read_recent(self._last, PAGE):
                    self._last = found[-1][0]
                    for each in await asyncio.to_thread(_unpacked, [part for _, part in found]):
                        self._add(each)
            except (RedisError, OSError) as error:
                self._failed(error)
            self._read_at = time.monotonic()

    def _added(self, record: Record, _: Suite) -> None:
        self._unsent.append(record)
        self._unsent_bytes += record.size
        if len(self._unsent) >= PART_RECORDS or self._unsent_bytes > PART_BYTES:
            self._is_full.set()

    def _flipped(self, suite_id: str) -> None:
        self._flips.append(Flip(self._history.name, suite_id))

    def _add(self, found: Record | Flip) -> None:
        if isinstance(found, Flip):
            if found.process != self._history.name:
                self._history.add_flip(found.suite)
        elif not found.key.startswith(f"{self._history.name}-"):
            # the suite's bytes are in Redis; see the route of one submission
            self._history.add(found, Suite(found.suite, b"", [], read_elsewhere=found.tests))

    def _failed(self, error: Exception) -> None:
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            self._logged_at = time.monotonic()
            log.warning("history_not_shared", extra={"reason": str(error) or type(error).__name__})


@asynccontextmanager
async def shared(ledger: Ledger, history: History, parts: int) -> AsyncIterator[None]:
    """Share a history while the context is open.

    Args:
        ledger: Of the fleet.
        history: Of this process.
        parts: The most parts that the stream keeps, about; 0: do not share.
    """
    if not parts:
        yield
        return
    sharing = SharedHistory(ledger, history, parts)
    task = asyncio.create_task(sharing.run())
    try:
        yield
    finally:
        await cancel_tasks([task])
        await sharing.flush()


def pack(records: Sequence[Record | Flip]) -> bytes:
    """Return the part of the stream that holds these records or flips."""
    return ZstdCompressor(level=LEVEL, write_checksum=True).compress(orjson.dumps([_row(each) for each in records]))


def _row(record: Record | Flip) -> dict[str, Any]:
    if isinstance(record, Flip):
        return {"flip": record.suite, "process": record.process}
    if len(record.program) + len(record.answer) > WHOLE_BYTES:
        record = replace(record, program=b"", answer=b"")
    return asdict(record) | {"program": record.program.decode(), "answer": record.answer.decode()}


def _unpacked(parts: list[bytes]) -> list[Record | Flip]:
    """Return the records of parts; none of a part that is damaged. Fields of newer versions are left out."""
    found: list[Record | Flip] = []
    for part in parts:
        try:
            rows = orjson.loads(ZstdDecompressor().decompress(part, max_output_size=MOST_UNPACKED))
            found += [_record(row) for row in rows]
        except (ZstdError, ValueError, TypeError, KeyError) as error:
            log.warning("history_unreadable", extra={"reason": str(error)[:200]})
    return found


def _record(row: dict[str, Any]) -> Record | Flip:
    if "flip" in row:
        return Flip(str(row["process"]), str(row["flip"]))
    known = {name: value for name, value in row.items() if name in FIELDS}
    return Record(**known | {"program": row["program"].encode(), "answer": row["answer"].encode()})
