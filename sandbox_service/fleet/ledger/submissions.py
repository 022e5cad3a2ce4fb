"""The calls of API processes: submit, find, cancel, and receive answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal

from redis.exceptions import RedisError

from sandbox_service.bounds import Bounds
from sandbox_service.errors import IdReusedError, QueueFullError
from sandbox_service.fleet.ledger import wire
from sandbox_service.fleet.ledger.calls import MOST_ENTRIES, MOST_STEPS, LedgerCalls, parts
from sandbox_service.fleet.ledger.entries import Entry, Found, Need, Reply, Taken, Terms
from sandbox_service.fleet.ledger.lua import Argument
from sandbox_service.fleet.ledger.packing import UNSURE
from sandbox_service.queues.base import NO_KEYS, id_of

MOST_REPLIES = 64  # for each read, with up to 16 answers each

_NEW_LETTER, _JOINED_LETTER, _ANSWERED_LETTER = b"NJA"  # of submit.lua
_NEW, _JOINED = Taken("new"), Taken("joined")


class SubmissionCalls(LedgerCalls):
    """See the module."""

    async def submit(self, entries: Sequence[Entry], api: str, bounds: Bounds) -> tuple[list[Taken], Need]:
        """Take all entries or none. Repeating the same call is safe.

        The same id with the same digest is the same submission: it is joined, or its answer returned. If Redis fails
        in the middle, some entries may have been taken.

        Args:
            entries: with different ids.
            api: the process that receives the answers of new and joined submissions; empty for none.
            bounds: of all pending submissions; see bounds/.

        Returns:
            What became of each entry, and how much waits for workers.

        Raises:
            IdReusedError: an id is in use with another digest.
            QueueFullError: a client would exceed its share.
            RedisError: Redis cannot be reached or refuses.
            CancelledError: the caller was cancelled; what it alone waits for is cancelled too.
        """
        taken: list[Taken] = []
        fresh: dict[int, list[str]] = {_NEW_LETTER: [], _JOINED_LETTER: []}
        need = Need(0, 0, 0)
        try:
            for part, rest in _parts_and_rest(entries):
                arguments: list[Argument] = [
                    api,
                    bounds.submissions,
                    bounds.bytes,
                    wire.microseconds(bounds.cpu_seconds),
                    self._answer_seconds,
                    *wire.sums(rest),
                ]
                arguments += wire.packed(part)
                reply = await self._functions.run("submit", arguments)
                wire.check_taken(reply, part)
                need = Need(reply[1], reply[2], reply[3])
                answers = iter(reply[5:])
                for entry, letter in zip(part, reply[4], strict=True):
                    if letter in fresh:
                        fresh[letter].append(entry.id)
                taken += [self._taken(letter, answers) for letter in reply[4]]
        except (IdReusedError, QueueFullError, RedisError, asyncio.CancelledError):
            with suppress(RedisError):  # otherwise they are graded, and no process receives the answers
                await self._release(api, fresh[_NEW_LETTER], kept_too=True)
                await self._release(api, fresh[_JOINED_LETTER], kept_too=False)
            raise
        return taken, need

    def _taken(self, letter: int, answers: Iterator[bytes]) -> Taken:
        if letter == _NEW_LETTER:
            return _NEW
        if letter in b"Jj":
            return _JOINED
        state: Literal["answered", "cached"] = "answered" if letter == _ANSWERED_LETTER else "cached"  # C or c
        return Taken(state, self._packing.unpack(next(answers)))

    async def release(self, api: str, ids: Sequence[str]) -> None:
        """Stop waiting for these ids in an API process. What no process waits for or keeps is cancelled."""
        await self._release(api, ids, kept_too=False)

    async def _release(self, api: str, ids: Sequence[str], kept_too: bool) -> None:
        for part in parts(ids, MOST_ENTRIES):
            await self._functions.run("release", [api, int(kept_too), *part])

    async def cancel(self, ids: Sequence[str], answer_of: Callable[[str, int], bytes]) -> list[str]:
        """Cancel submissions for all waiting requests.

        Args:
            ids: of the submissions.
            answer_of: makes the answer from the id that the client knows and the number of tests.

        Returns:
            The ids that were pending.
        """
        found: list[str] = []
        for part in parts(ids, MOST_STEPS):
            arguments: list[Argument] = [self._fault_seconds]
            for each, terms in zip(part, await self._terms_of(part), strict=True):
                answer = answer_of(id_of(each, terms.client), terms.tests)
                arguments += (each, self._packing.pack(answer, True, UNSURE))
            found += [each.decode() for each in await self._functions.run("cancel", arguments)]
        return found

    async def pending_labelled(self, name: str, value: str, keys: Sequence[str] = NO_KEYS) -> list[str]:
        """Return the ids of pending submissions that have the label `name` with this value. Reads all that is pending.

        Args:
            name: of the label.
            value: of the label.
            keys: names of the API keys whose submissions are returned.
        """
        found: list[str] = []
        async for part in self._pending():
            terms = await self._terms_of(part)
            found += [
                id_
                for id_, each in zip(part, terms, strict=True)
                if (name, value) in each.labels and each.client.partition("/")[0] in keys
            ]
        return found

    async def _terms_of(self, ids: Sequence[str]) -> list[Terms]:
        """Return the terms of each submission; empty ones if it is not pending."""
        pipe = self._redis.pipeline(transaction=False)
        for each in ids:
            pipe.hget(f"{self._name}:sub:{each}", "about")
        return [wire.terms(about) for about in await pipe.execute(raise_on_error=False)]

    async def _pending(self) -> AsyncIterator[list[str]]:
        cursor, seen = 0, set[str]()
        while True:
            page: Any = await self._redis.zscan(f"{self._name}:pending", cursor, count=MOST_ENTRIES)
            cursor, rows = page
            part = [id_ for id_ in (row[0].decode() for row in rows) if id_ not in seen]  # a scan may repeat itself
            seen.update(part)
            yield part
            if int(cursor) == 0:
                return

    async def look(self, ids: Sequence[str]) -> list[Found]:
        """Return the state of each of the ids."""
        found: list[Found] = []
        for part in parts(ids, MOST_ENTRIES):
            found += [self._found(row) for row in await self._functions.run("look", part)]
        return found

    async def join(self, id: str, api: str) -> Found:  # noqa: A002
        """Return the state of an id. If it is pending, its answer will be sent to this API process, too.

        Args:
            id: of the submission.
            api: the API process.
        """
        return self._found(await self._functions.run("join", [id, api]))

    # --- replies

    async def open_replies(self, api: str) -> None:
        """Make the stream of an API process, if it does not exist. Read it from "0" on."""
        await self.keep_replies(api)

    async def keep_replies(self, api: str) -> bool:
        """Keep the stream of an API process for `reply_seconds`.

        Returns:
            False if it was gone: answers may be lost, and a new stream must be read from "0" on.
        """
        return bool(await self._functions.run("replies", [api, self._reply_seconds]))

    async def replies(self, api: str, last: str, wait_seconds: float) -> list[Reply]:
        """Return new answers, waiting for the first, and delete those up to `last`.

        Args:
            api: the API process whose stream is read.
            last: stream id of the last answer that was handled; "0" to begin.
            wait_seconds: how long to wait for the first.
        """
        key = f"{self._name}:rep:{api}"
        block = round(wait_seconds * 1000) or None  # 0 would be for ever
        pipe = self._redis.pipeline(transaction=False)
        if last != "0":
            pipe.xtrim(key, minid=last, approximate=False)
        pipe.xread({key: last}, count=MOST_REPLIES, block=block)
        found = (await pipe.execute())[-1]
        return [
            Reply(stream_id.decode(), id_.decode(errors="replace"), self._packing.unpack(stored))
            for stream_id, fields in wire.entries_of_stream(found)
            for id_, stored in fields.items()
        ]


def _parts_and_rest(entries: Sequence[Entry]) -> Iterator[tuple[Sequence[Entry], Sequence[Entry]]]:
    """Split for several calls. The first has the rest as well: there must be room for all of them."""
    for at in range(0, len(entries), MOST_ENTRIES):
        yield entries[at : at + MOST_ENTRIES], entries[MOST_ENTRIES:] if at == 0 else ()
