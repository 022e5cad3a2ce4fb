"""Grades the submissions of one call in batches over several connections.

The service answers a batch line by line, so a broken connection loses only what is not answered yet; this is sent again
with the same ids. If the service fails at a batch or the batch is too large, it is split in halves.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from sandbox_service.client.batching import BatchItem, Given, chunks, pack
from sandbox_service.client.errors import RefusedError
from sandbox_service.client.grade_decoding import LOST, given_up, grade_of, reason_of
from sandbox_service.client.json_encoding import encoded
from sandbox_service.client.retries import NoAnswerError, RetryTimer, pauses
from sandbox_service.client.single_grading import TRIES, is_unknown_suite, not_known, put
from sandbox_service.client.suites import Suite, SuiteCache
from sandbox_service.client.transport import ErrorResponseError, HttpTransport, describe_error
from sandbox_service.schema import Grade

MAX_IN_FLIGHT = 8192  # submissions
CONNECTIONS = 64  # more than MAX_IN_FLIGHT needs, because some batches have few slow submissions left
ALIVE_SECONDS = 5.0  # a keep-alive line comes after 15 s of silence; an early one proves nothing
# error types of a line after which it is sent again
RETRY_TYPES = ("unavailable", "queue_full", "over_quota", "too_many_guesses")
TOO_LARGE, INTERNAL_ERROR = 413, 500
_PLACE = re.compile(r"submissions\[(\d+)\]: ")

Chunk = dict[str, BatchItem]  # unanswered submissions, by id


class BatchGrading:
    """Grades the submissions of one call.

    Args:
        transport: The service.
        suites: The client's cache of suites.
        submissions: Submissions or their fields.
        defaults: Fields of every submission that does not set them.
        take: Called with the index and the grade of each submission as it arrives.
    """

    def __init__(
        self,
        transport: HttpTransport,
        suites: SuiteCache,
        submissions: Sequence[Given],
        defaults: Mapping[str, Any],
        take: Callable[[int, Grade], None],
    ) -> None:
        self._transport = transport
        self._suites = suites
        self._take = take
        self._packed = pack(submissions, defaults)
        self._defaults = encoded(self._packed.defaults)
        self._room = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._connections = asyncio.Semaphore(CONNECTIONS)

    async def run(self) -> None:
        """Grade until every submission is answered. No request is open afterwards, even after an exception.

        Raises:
            ServiceUnavailableError: The service is unavailable for too long.
            RefusedError: The service refuses a submission; the message names it.
            NotProctorError: The answer is not one of a proctor service.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for chunk in chunks(self._packed.items):
                    for _ in chunk:
                        await self._room.acquire()
                    group.create_task(self._grade(chunk, group))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _grade(self, chunk: Chunk, group: asyncio.TaskGroup) -> None:
        timer, waits, errors = self._transport.retry_timer(), pauses(), 0
        while chunk:
            try:
                async with self._connections:
                    await self._put_missing(chunk)
                    await self._send(chunk, timer)
            except NoAnswerError as failure:
                await timer.wait(failure)
                continue
            except ErrorResponseError as error:
                errors += 1
                self._handle_error(error, chunk)
                if len(chunk) > 1 and (errors > 1 or error.status == TOO_LARGE):
                    for half in _halves(chunk):
                        group.create_task(self._grade(half, group))
                    return
            if chunk:
                await asyncio.sleep(next(waits))

    async def _send(self, chunk: Chunk, timer: RetryTimer) -> None:
        """Send a batch and take its answers. What is unanswered afterwards was lost.

        Raises:
            NoAnswerError: The service is unavailable, or the answer breaks off.
            ErrorResponseError: The status is not 200.
        """
        body = b'{"defaults":%b,"submissions":[%b]}' % (self._defaults, b",".join(item.body for item in chunk.values()))
        due, later, began = set(chunk), None, time.monotonic()
        async with aclosing(self._transport.stream_lines("POST", "/v1/grade/batch", body)) as lines:
            async for line in lines:
                if not line.strip():
                    if time.monotonic() - began > ALIVE_SECONDS:
                        timer.reset()
                elif grade := grade_of(line):
                    timer.reset()
                    self._answered(self._item(grade.id, due, chunk), grade, chunk)
                else:
                    later = self._error(line, due, chunk) or later
        if later is not None:
            raise later
        if due:
            raise NoAnswerError(f"the answer ended with {len(due)} of its submissions not graded", time.monotonic())

    def _item(self, submission_id: str, due: set[str], chunk: Chunk) -> BatchItem:
        """Return the submission that a line is about."""
        if submission_id not in due:
            raise self._transport.stranger("it answered for a submission that was not sent")
        due.remove(submission_id)
        return chunk[submission_id]

    def _answered(self, item: BatchItem, grade: Grade, chunk: Chunk) -> None:
        if grade.failure_kind not in LOST:
            self._done(item, grade, chunk)
            return
        self._suites.there.discard(item.suite)
        self._lost(item, reason_of(grade), chunk)

    def _error(self, line: bytes, due: set[str], chunk: Chunk) -> NoAnswerError | None:
        """Handle a line that is not a grade. Return the reason to retry; otherwise raise an error."""
        try:
            answer = json.loads(line)
            submission_id, error = answer["id"], answer["error"]
            kind, after = str(error["type"]), float(error.get("retry_after_seconds") or 0.0)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._transport.stranger(
                f"{line[:200]!r} is not a grade; does the service have another version?"
            ) from None
        item = self._item(submission_id, due, chunk)
        if kind in RETRY_TYPES:
            return NoAnswerError(describe_error(200, answer), time.monotonic(), after or None)
        if kind != "internal_error":
            raise self._transport.refusal(200, answer, item.name)
        self._lost(item, describe_error(INTERNAL_ERROR, answer), chunk)
        return None

    def _handle_error(self, failure: ErrorResponseError, chunk: Chunk) -> None:
        """Handle an error response. Raise RefusedError unless a retry or a split may help."""
        is_unknown = is_unknown_suite(failure.status, failure.answer)
        is_divisible = failure.status == TOO_LARGE and len(chunk) > 1
        if not (is_unknown or is_divisible or failure.status == INTERNAL_ERROR):
            raise self._refusal(failure, chunk)
        if is_unknown:
            self._suites.there.difference_update(item.suite for item in chunk.values())
        if len(chunk) == 1:
            self._lost(next(iter(chunk.values())), str(failure), chunk)

    def _lost(self, item: BatchItem, reason: str, chunk: Chunk) -> None:
        item.tries += 1
        if item.tries >= TRIES:
            self._done(item, given_up(item.id, reason), chunk)

    def _done(self, item: BatchItem, grade: Grade, chunk: Chunk) -> None:
        del chunk[item.id]
        item.body = b""
        self._room.release()
        self._take(item.place, grade)

    def _refusal(self, failure: ErrorResponseError, chunk: Chunk) -> RefusedError:
        """Return the error, with the name of the submission that the service identifies by its index."""
        items, error = list(chunk.values()), failure.answer.get("error")
        what = items[0].name if len(items) == 1 else f"submissions {items[0].place} to {items[-1].place}"
        if isinstance(error, dict) and (found := _PLACE.match(str(error.get("message")))):
            what = items[int(found[1])].name
            error = error | {"message": str(error["message"])[found.end() :]}
        return self._transport.refusal(failure.status, {**failure.answer, "error": error}, what)

    async def _put_missing(self, chunk: Chunk) -> None:
        """Ask for suites that may be missing and upload those that are. Raise RefusedError."""
        users = {item.suite: item for item in chunk.values() if item.suite and item.suite not in self._suites.there}
        if not users:
            return
        puts = {name: self._suites.puts(name) for name in users}
        status, answer = await self._transport.ask("POST", "/v1/suites/missing", encoded({"suites": list(users)}))
        if status != 200:
            raise self._transport.refusal(status, answer, "to say which suites are missing")
        missing = answer.get("missing")
        if not isinstance(missing, list):
            raise self._transport.stranger(json.dumps(answer)[:200])
        for name in missing:
            suite = self._suite(name)
            if suite is None:
                raise not_known(self._transport, name, users[name].name)
            await put(self._transport, self._suites, suite, f"the tests of {users[name].name}", puts[name])
        self._suites.there.update(users)

    def _suite(self, name: str) -> Suite | None:
        source = self._packed.sources.get(name) or self._suites.kept(name)
        return source if isinstance(source, Suite) or source is None else Suite.of(source)


def _halves(chunk: Chunk) -> tuple[Chunk, Chunk]:
    items = list(chunk.items())
    middle = len(items) // 2
    return dict(items[:middle]), dict(items[middle:])
