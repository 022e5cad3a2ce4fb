"""The service's end of the socket to a process for large requests: submits the jobs that the process has parsed."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import orjson

from sandbox_service.api.large import wire
from sandbox_service.bounds import Bounds
from sandbox_service.errors import ProctorError, UnavailableError, UnknownSuiteError
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.backlog import Load, check_fits
from sandbox_service.queues.base import Job, ObservedQueue, Waiter
from sandbox_service.slots import protocol

log = logging.getLogger(__name__)

SUBMITTED_AT_ONCE = 100  # jobs, then the event loop serves other requests
GATHER_SECONDS = 0.01  # between two writes of answers, each of which wakes the process


@dataclass
class _Request:
    """The messages received for a request so far."""

    suites: dict[str, Suite] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)  # of suites, by their ids
    programs: dict[int, int] = field(default_factory=dict)  # files of jobs' bodies, by the jobs' places


class QueueServer(asyncio.Protocol):
    """Serves one process. When its connection is lost, all of its waiters are released.

    Args:
        queue: The service's queue.
        bounds: The queue's limits.
        pid: The id of the process, for access to its files.
    """

    def __init__(self, queue: ObservedQueue, bounds: Bounds, pid: int) -> None:
        self.pid = pid
        self.has_ended = asyncio.Event()
        self._queue = queue
        self._bounds = bounds
        self._unpacker = protocol.Unpacker()
        self._requests: dict[int, _Request] = {}
        self._waiters: dict[int, Waiter] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: list[bytes] = []
        self._wrote_at = -math.inf

    @property
    def is_idle(self) -> bool:
        """True if the process waits for no answer."""
        return not self._waiters and not self._tasks and not self._answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Implements asyncio.Protocol."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Implements asyncio.Protocol."""
        for frame in self._unpacker.feed(data):
            self._handle(frame)

    def connection_lost(self, _: Exception | None) -> None:
        """Implements asyncio.Protocol."""
        self.has_ended.set()
        for task in self._tasks:
            task.cancel()
        for waiter in self._waiters.values():
            waiter.release()
        self._waiters.clear()
        self._answers.clear()

    def send(self, kind: int, key: int, payload: bytes) -> None:
        """Send one message, unless the connection is closing.

        Args:
            kind: The type of the message.
            key: The number of the request or of the waiter.
            payload: The content.
        """
        if not self._transport.is_closing():
            self._transport.write(protocol.pack(kind, key, payload))

    def _send_soon(self, kind: int, number: int, payload: bytes) -> None:
        """Send the answer of a waiter, together with those that come within `GATHER_SECONDS` of the last ones."""
        self._answers.append(protocol.pack(kind, number, payload))
        if len(self._answers) == 1:
            loop, soon = asyncio.get_running_loop(), self._wrote_at + GATHER_SECONDS - time.monotonic()
            loop.call_later(max(soon, 0.0), self._send_answers)

    def _send_answers(self) -> None:
        answers, self._answers = self._answers, []
        self._wrote_at = time.monotonic()
        if answers and not self._transport.is_closing():
            self._transport.write(b"".join(answers))

    def _handle(self, frame: protocol.Frame) -> None:
        kind, key, payload = frame
        if kind in (wire.SUITE, wire.JOBS):
            self._gather(frame)
        elif kind == wire.RELEASE:
            waiter = self._waiters.pop(key, None)
            if waiter is not None:
                waiter.release()
        elif kind == wire.FACTS:
            self._queue.learn_suite(wire.suite_of(payload)[0])
        else:
            self._begin(key, self._work(frame))

    def _gather(self, frame: protocol.Frame) -> None:
        """Keep the parts of a request until it is complete."""
        request = self._requests.setdefault(frame.key, _Request())
        if frame.kind == wire.SUITE:
            suite, file = wire.suite_of(frame.payload)
            request.suites[suite.id] = suite
            if file != wire.NO_FILE:
                request.files[suite.id] = file
            return
        for job, file in wire.jobs_of(frame.payload, request.suites):
            if file != wire.NO_FILE:
                request.programs[len(request.jobs)] = file
            request.jobs.append(job)

    def _work(self, frame: protocol.Frame) -> Coroutine[None, None, None]:
        """Return the coroutine that handles a message."""
        match frame.kind:
            case wire.SUBMIT:
                return self._submit(frame.key, self._requests.pop(frame.key))
            case wire.PUT:
                return self._put(frame.key, *wire.suite_of(frame.payload))
            case wire.FIND:
                return self._find(frame.key, frame.payload.decode())
            case _:
                return self._missing(frame.key, orjson.loads(frame.payload))

    def _begin(self, key: int, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(key, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, key: int, work: Coroutine[None, None, None]) -> None:
        """Run the coroutine and report any exception to the process."""
        try:
            await work
        except ProctorError as error:
            self.send(wire.REFUSED, key, wire.error_frame(error))
        except Exception as error:
            log.error("internal_error", exc_info=error)
            reason = f"internal error ({type(error).__name__}); the service's log has the traceback"
            self.send(wire.REFUSED, key, wire.error_frame(UnavailableError(reason)))

    async def _submit(self, key: int, request: _Request) -> None:
        jobs = await self._with_bodies(request)
        await self._check_fits(jobs)
        waiters: list[Waiter] = []
        try:
            for at in range(0, len(jobs), SUBMITTED_AT_ONCE):
                waiters += await self._queue.submit(jobs[at : at + SUBMITTED_AT_ONCE])
                await asyncio.sleep(0)
        except BaseException:
            for waiter in waiters:
                waiter.release()
            raise
        await self._watch(key, waiters)

    async def _check_fits(self, jobs: Sequence[Job]) -> None:
        """Raise BodyTooLargeError if the queue could never hold all jobs at once, which parts of them do not show."""
        together = Load()
        for index, job in enumerate(jobs):
            together.add(Load(1, job.size))
            if index % SUBMITTED_AT_ONCE == SUBMITTED_AT_ONCE - 1:
                await asyncio.sleep(0)
        check_fits([together], self._bounds)

    async def _watch(self, key: int, waiters: Sequence[Waiter]) -> None:
        self.send(wire.TAKEN, key, wire.state_frame(self._queue))
        self._waiters.update((key << wire.WAITER_BITS | index, waiter) for index, waiter in enumerate(waiters))
        for index, waiter in enumerate(waiters):
            number = key << wire.WAITER_BITS | index
            waiter.answer.add_done_callback(partial(self._answered, number))
            if index % SUBMITTED_AT_ONCE == SUBMITTED_AT_ONCE - 1:
                await asyncio.sleep(0)

    async def _with_bodies(self, request: _Request) -> list[Job]:
        """Return the request's jobs, each with a suite that has its bytes. Raise UnknownSuiteError."""
        whole: dict[str, Suite] = {}
        for suite in request.suites.values():
            if suite.id in request.files:
                whole[suite.id] = replace(suite, body=await self._content(request.files[suite.id]))
            elif not suite.body:
                found = await self._queue.suite(suite.id)
                if found is None:
                    raise UnknownSuiteError(f"suite {suite.id} has expired: upload it again")
                whole[suite.id] = replace(suite, body=found.body)
        for place, file in request.programs.items():
            request.jobs[place] = replace(request.jobs[place], body=await self._content(file))
        for job in request.jobs if whole else ():
            job.suite = whole.get(job.suite.id, job.suite)
        return request.jobs

    async def _content(self, file: int) -> bytes:
        return await asyncio.to_thread(wire.content, self.pid, file)

    def _answered(self, number: int, answer: asyncio.Future[EncodedGrade]) -> None:
        waiter = self._waiters.pop(number, None)
        if waiter is None or answer.cancelled():
            return
        waiter.release()
        error = answer.exception()
        if error is None:
            self._send_soon(wire.ANSWER, number, answer.result().body)
        else:
            assert isinstance(error, ProctorError)
            self._send_soon(wire.FAILED, number, wire.error_frame(error))

    async def _put(self, key: int, suite: Suite, file: int) -> None:
        if file != wire.NO_FILE:
            suite = replace(suite, body=await self._content(file))
        is_new = await self._queue.put_suite(suite)
        self.send(wire.FOUND, key, orjson.dumps(is_new))

    async def _find(self, key: int, suite_id: str) -> None:
        found = await self._queue.suite(suite_id)
        self.send(wire.FOUND, key, b"" if found is None else found.body)

    async def _missing(self, key: int, suite_ids: list[str]) -> None:
        self.send(wire.FOUND, key, orjson.dumps(await self._queue.missing_suites(suite_ids)))
