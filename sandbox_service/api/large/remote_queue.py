"""The queue in a process for large requests: a client of the service's queue over a socket."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import cast

import orjson

from sandbox_service.api.large import wire
from sandbox_service.errors import UnavailableError
from sandbox_service.grading import suites
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.suites import LruCache, Suite
from sandbox_service.queues.base import NO_KEYS, Depth, Job, Waiter, WorkerStatus
from sandbox_service.slots import protocol

MOST_SUITES = 100


class RemoteWaiter:
    """Implements base.Waiter."""

    def __init__(self, queue: RemoteQueue, number: int, submission_id: str) -> None:
        self.id = submission_id
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.number = number
        self._queue = queue

    def release(self) -> None:
        """Implements base.Waiter."""
        self._queue.release(self)


class RemoteQueue(asyncio.Protocol):
    """Implements the part of JobQueue that requests with a body need. `lost` is set when the service has ended.

    Args:
        suite_bytes: The size of the cache of suites.
    """

    def __init__(self, suite_bytes: int) -> None:
        self.lost = asyncio.Event()
        self._unpacker = protocol.Unpacker()
        self._numbers = itertools.count(1)
        self._requests: dict[int, asyncio.Future[bytes]] = {}
        self._waiters: dict[int, RemoteWaiter] = {}
        self._suites: LruCache[Suite] = LruCache(MOST_SUITES, suite_bytes)  # parsed suites that the service has
        self._state = wire.QueueState([], 0, 0.0, 0)
        self._reasons: list[str] = []

    # --- the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Implements asyncio.Protocol."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Implements asyncio.Protocol."""
        for kind, key, payload in self._unpacker.feed(data):
            if kind in (wire.ANSWER, wire.FAILED):
                self._answered(kind, key, payload)
                continue
            reply = self._requests.pop(key, None)
            if reply is not None and not reply.done():
                if kind == wire.REFUSED:
                    reply.set_exception(wire.error_of(payload))
                else:
                    reply.set_result(payload)

    def connection_lost(self, _: Exception | None) -> None:
        """Implements asyncio.Protocol."""
        self._reasons = ["closing"]
        self.lost.set()

    def _answered(self, kind: int, key: int, payload: bytes) -> None:
        waiter = self._waiters.pop(key, None)
        if waiter is None:
            return
        if kind == wire.ANSWER:
            waiter.answer.set_result(EncodedGrade(payload))
        else:
            waiter.answer.set_exception(wire.error_of(payload))
            waiter.answer.exception()  # marks it as retrieved: the batch may have disconnected

    def _send(self, kind: int, key: int, payload: bytes = b"") -> None:
        if self._transport.is_closing():  # the service has ended, and its submissions with it
            return
        self._transport.write(protocol.HEADER.pack(len(payload), kind, key))
        self._transport.write(payload)

    def _request(self, kind: int, key: int, payload: bytes = b"") -> asyncio.Future[bytes]:
        if self.lost.is_set():
            raise UnavailableError("the service is closing")
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._requests[key] = reply
        self._send(kind, key, payload)
        return reply

    # --- JobQueue

    async def submit(self, jobs: Sequence[Job]) -> list[Waiter]:
        """Implements JobQueue."""
        key, files = next(self._numbers), wire.MemoryFiles()
        for suite in {job.suite.id: job.suite for job in jobs}.values():
            self._send(wire.SUITE, key, wire.suite_frame(suite, None if suite.id in self._suites else files))
        for payload in wire.job_frames(jobs, files):
            self._send(wire.JOBS, key, payload)
        waiters = [RemoteWaiter(self, key << wire.WAITER_BITS | index, job.id) for index, job in enumerate(jobs)]
        self._waiters.update((waiter.number, waiter) for waiter in waiters)
        reply = self._request(wire.SUBMIT, key)
        reply.add_done_callback(lambda _: files.close())
        try:
            self._state = wire.state_of(await asyncio.shield(reply))
        except asyncio.CancelledError:
            reply.add_done_callback(lambda reply: self._discard_reply(reply, waiters))
            raise
        except BaseException:
            self._drop(waiters)
            raise
        return list(waiters)

    def _discard_reply(self, reply: asyncio.Future[bytes], waiters: Sequence[RemoteWaiter]) -> None:
        """Handle the service's reply to a submit whose client has disconnected."""
        reply.exception()  # marks it as retrieved
        self._drop(waiters)

    def _drop(self, waiters: Sequence[RemoteWaiter]) -> None:
        for waiter in waiters:
            waiter.release()

    def release(self, waiter: RemoteWaiter) -> None:
        """Tell the service that this waiter is released."""
        if self._waiters.pop(waiter.number, None) is not None:
            self._send(wire.RELEASE, waiter.number)
            waiter.answer.cancel()

    async def put_suite(self, suite: Suite) -> bool:
        """Implements JobQueue."""
        files = wire.MemoryFiles()
        try:
            frame = wire.suite_frame(suite, files)
            return bool(orjson.loads(await self._request(wire.PUT, next(self._numbers), frame)))
        finally:
            files.close()

    async def suite(self, suite_id: str) -> Suite | None:
        """Implements JobQueue. Reports the facts of a suite that the service has not parsed."""
        known = self._suites.get(suite_id)
        if known is not None:
            return known
        body = await self._request(wire.FIND, next(self._numbers), suite_id.encode())
        if not body:
            return None
        found = suites.read(body)
        self._suites.put(suite_id, found, len(body))
        self._send(wire.FACTS, 0, wire.suite_frame(found, None))
        return found

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """Implements JobQueue."""
        found: list[str] = orjson.loads(
            await self._request(wire.MISSING, next(self._numbers), orjson.dumps(list(suite_ids)))
        )
        return found

    def unready(self) -> list[str]:
        """Implements JobQueue. The only reason is that the service has ended."""
        return self._reasons

    def languages(self) -> list[str]:
        """Implements JobQueue, as of the last submission."""
        return self._state.languages

    def depth(self) -> Depth:
        """Implements JobQueue, as of the last submission; without the waiting ones."""
        return Depth(submissions=self._state.pending, cpu_seconds=self._state.cpu_seconds)

    def workers(self) -> list[WorkerStatus]:
        """Implements JobQueue, as of the last submission: all workers as one."""
        return [WorkerStatus("all", self._state.slots, 0, self._state.slots, self._state.languages)]

    # --- the rest of JobQueue

    async def find(self, submission_id: str, keys: Sequence[str] = NO_KEYS) -> Waiter | None:
        """See JobQueue. Requests with a body do not need it."""
        raise NotImplementedError

    async def cancel(self, submission_ids: Sequence[str], keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue. Requests with a body do not need it."""
        raise NotImplementedError

    async def cancel_labelled(self, name: str, value: str, keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue. Requests with a body do not need it."""
        raise NotImplementedError

    def counts(self) -> dict[str, int]:
        """Not needed by requests with a body."""
        raise NotImplementedError

    async def drain(self, seconds: float) -> None:
        """See JobQueue. Does nothing: the service drains its queue."""

    async def close(self) -> None:
        """Close the connection."""
        self._transport.close()
