"""Many submissions in one call: batches over a few connections, and what was not answered is sent again, with its id.

A batch is answered line by line, so an end in the middle costs only what is left of it. Which of a batch the service
cannot take (it fails at it, or the batch is too much for it) is found by halves.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from sandbox_service.client.answers import LOST, given_up, grade_of, reason_of
from sandbox_service.client.errors import Refused
from sandbox_service.client.grading import TRIES, is_unknown_suite, not_known, put
from sandbox_service.client.packing import Given, Item, chunks, pack
from sandbox_service.client.plain import encoded
from sandbox_service.client.service import Complaint, Nobody, Patience, Service, pauses, said
from sandbox_service.client.suites import Suite, Suites
from sandbox_service.schema import Grade

AT_ONCE = 8192  # submissions on their way
CONNECTIONS = 64  # more than batches of that many, for some have little left that takes long
ALIVE_SECONDS = 5.0  # a blank line comes after 15 s of silence: one that comes at once says nothing
COME_BACK = ("unavailable", "queue_full", "too_many_guesses")  # of a line: it would do to send it later
TOO_LARGE, DEFECT = 413, 500
_PLACE = re.compile(r"submissions\[(\d+)\]: ")

Chunk = dict[str, Item]  # by id; what is answered is taken out


class Many:
    """One call. `take` is told the place and the grade of each as it comes."""

    def __init__(
        self,
        service: Service,
        suites: Suites,
        submissions: Sequence[Given],
        defaults: Mapping[str, Any],
        take: Callable[[int, Grade], None],
    ) -> None:
        self._service = service
        self._suites = suites
        self._take = take
        self._packed = pack(submissions, defaults)
        self._defaults = encoded(self._packed.defaults)
        self._room = asyncio.Semaphore(AT_ONCE)
        self._connections = asyncio.Semaphore(CONNECTIONS)

    async def run(self) -> None:
        """Until all are answered. Raises Away, Refused, Stranger; whatever it raises, nothing is on its way then."""
        try:
            async with asyncio.TaskGroup() as group:
                for chunk in chunks(self._packed.items):
                    for _ in chunk:
                        await self._room.acquire()
                    group.create_task(self._grade(chunk, group))
        except BaseExceptionGroup as troubles:
            raise troubles.exceptions[0] from None

    async def _grade(self, chunk: Chunk, group: asyncio.TaskGroup) -> None:
        patience, waits, complaints = self._service.patience(), pauses(), 0
        while chunk:
            try:
                async with self._connections:
                    await self._put_missing(chunk)
                    await self._send(chunk, patience)
            except Nobody as nobody:
                await patience.wait(nobody)
                continue
            except Complaint as complaint:
                complaints += 1
                self._hear(complaint, chunk)
                if len(chunk) > 1 and (complaints > 1 or complaint.status == TOO_LARGE):
                    for half in _halves(chunk):
                        group.create_task(self._grade(half, group))
                    return
            if chunk:
                await asyncio.sleep(next(waits))

    async def _send(self, chunk: Chunk, patience: Patience) -> None:
        """What is not answered afterwards was lost. Raises Nobody if there is more to come, Complaint."""
        body = b'{"defaults":%b,"submissions":[%b]}' % (self._defaults, b",".join(item.body for item in chunk.values()))
        due, later, began = set(chunk), None, time.monotonic()
        async with aclosing(self._service.lines("POST", "/v1/grade/batch", body)) as lines:
            async for line in lines:
                if not line.strip():
                    if time.monotonic() - began > ALIVE_SECONDS:
                        patience.heard()
                elif grade := grade_of(line):
                    patience.heard()
                    self._answered(self._item(grade.id, due, chunk), grade, chunk)
                else:
                    later = self._error(line, due, chunk) or later
        if later is not None:
            raise later
        if due:
            raise Nobody(f"the answer ended with {len(due)} of its submissions not graded", time.monotonic())

    def _item(self, submission_id: str, due: set[str], chunk: Chunk) -> Item:
        """That a line is about."""
        if submission_id not in due:
            raise self._service.stranger("it answered for a submission that was not sent")
        due.remove(submission_id)
        return chunk[submission_id]

    def _answered(self, item: Item, grade: Grade, chunk: Chunk) -> None:
        if grade.failure_kind not in LOST:
            self._done(item, grade, chunk)
            return
        self._suites.there.discard(item.suite)
        self._lost(item, reason_of(grade), chunk)

    def _error(self, line: bytes, due: set[str], chunk: Chunk) -> Nobody | None:
        """Of a line that is no grade: what is to be waited for. Raises Refused, Stranger."""
        try:
            answer = json.loads(line)
            submission_id, error = answer["id"], answer["error"]
            kind, after = str(error["type"]), float(error.get("retry_after_seconds") or 0.0)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._service.stranger(f"{line[:200]!r} is no grade; is it of another version?") from None
        item = self._item(submission_id, due, chunk)
        if kind in COME_BACK:
            return Nobody(said(200, answer), time.monotonic(), after or None)
        if kind != "internal_error":
            raise self._service.refusal(200, answer, item.name)
        self._lost(item, said(DEFECT, answer), chunk)
        return None

    def _hear(self, complaint: Complaint, chunk: Chunk) -> None:
        """What it is about may be had another time, or by halves. Raises Refused."""
        is_unknown = is_unknown_suite(complaint.status, complaint.answer)
        is_divisible = complaint.status == TOO_LARGE and len(chunk) > 1
        if not (is_unknown or is_divisible or complaint.status == DEFECT):
            raise self._refusal(complaint, chunk)
        if is_unknown:
            self._suites.there.difference_update(item.suite for item in chunk.values())
        if len(chunk) == 1:
            self._lost(next(iter(chunk.values())), str(complaint), chunk)

    def _lost(self, item: Item, reason: str, chunk: Chunk) -> None:
        item.tries += 1
        if item.tries >= TRIES:
            self._done(item, given_up(item.id, reason), chunk)

    def _done(self, item: Item, grade: Grade, chunk: Chunk) -> None:
        del chunk[item.id]
        item.body = b""
        self._room.release()
        self._take(item.place, grade)

    def _refusal(self, complaint: Complaint, chunk: Chunk) -> Refused:
        """Names the submission that the service names by its place in the batch."""
        items, error = list(chunk.values()), complaint.answer.get("error")
        what = items[0].name if len(items) == 1 else f"submissions {items[0].place} to {items[-1].place}"
        if isinstance(error, dict) and (found := _PLACE.match(str(error.get("message")))):
            what = items[int(found[1])].name
            error = error | {"message": str(error["message"])[found.end() :]}
        return self._service.refusal(complaint.status, {**complaint.answer, "error": error}, what)

    async def _put_missing(self, chunk: Chunk) -> None:
        """Suites that may not be there are asked for, and put if they are not. Raises Refused."""
        users = {item.suite: item for item in chunk.values() if item.suite and item.suite not in self._suites.there}
        if not users:
            return
        puts = {name: self._suites.puts(name) for name in users}
        status, answer = await self._service.ask("POST", "/v1/suites/missing", encoded({"suites": list(users)}))
        if status != 200:
            raise self._service.refusal(status, answer, "to say which suites are missing")
        missing = answer.get("missing")
        if not isinstance(missing, list):
            raise self._service.stranger(json.dumps(answer)[:200])
        for name in missing:
            suite = self._suite(name)
            if suite is None:
                raise not_known(self._service, name, users[name].name)
            await put(self._service, self._suites, suite, f"the tests of {users[name].name}", puts[name])
        self._suites.there.update(users)

    def _suite(self, name: str) -> Suite | None:
        source = self._packed.sources.get(name) or self._suites.kept(name)
        return source if isinstance(source, Suite) or source is None else Suite.of(source)


def _halves(chunk: Chunk) -> tuple[Chunk, Chunk]:
    items = list(chunk.items())
    middle = len(items) // 2
    return dict(items[:middle]), dict(items[middle:])
