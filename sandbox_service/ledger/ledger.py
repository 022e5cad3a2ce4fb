"""The ledger: every change of a submission's state, for all API processes and all workers.

It lives in one Redis, not in a Redis Cluster. Each change is one script, so whoever dies in between leaves nothing
half done, and each may be repeated when its reply was lost. Times are those of the Redis server. RQ jobs are no part of
it: a call for hands that is lost or made twice changes nothing here.

The Redis client must not decode responses, and its socket timeout must be longer than any wait for replies. Redis's own
errors (redis.exceptions.RedisError) pass through: when Redis is full, what takes memory is refused and what frees it is
not. Ids, clients and suites are any text of reasonable length; names of workers and API processes have no spaces.

Whoever can write to this Redis can forge answers. Entries that are not whole are refused, so that a slip does not stop
the fleet, but that is no defence: protect Redis by a password, and keep it where no submission reaches it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError

from sandbox_service.bounds import Bounds
from sandbox_service.errors import IdReused, QueueFull
from sandbox_service.ledger import wire
from sandbox_service.ledger.entries import (
    Claim,
    Drop,
    Entry,
    Finish,
    Found,
    GiveBack,
    Lost,
    Need,
    Reply,
    Start,
    Step,
    Taken,
    Terms,
    Totals,
    WorkerState,
)
from sandbox_service.ledger.packing import DIGEST, UNSURE, Packing
from sandbox_service.ledger.scripts import Argument, Scripts

REAPER = "reaper"
"""Holds what was lost until it is answered; no worker may have this name."""

MOST_ENTRIES = 512  # for each call: Redis does nothing else meanwhile
MOST_STEPS = 256
MOST_REPLIES = 64  # with up to 16 answers each

_NEW_LETTER, _JOINED_LETTER, _ANSWERED_LETTER = b"NJA"  # of submit.lua
_NEW, _JOINED, _GONE, _PENDING = Taken("new"), Taken("joined"), Found("gone"), Found("pending")
_T = TypeVar("_T")


@dataclass
class _Hand:
    """What this process remembers of a worker: the last turn of which it heard, the digests of what it holds."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    heard: str = ""
    digests: dict[str, bytes] = field(default_factory=dict)


class Ledger:
    """What waits, who holds what, and what is answered. Of each worker only one process, with one Ledger, may claim."""

    def __init__(
        self,
        redis: Redis,
        name: str = "proctor",
        *,
        answer_seconds: int = 600,
        fault_seconds: int = 60,
        cache_seconds: int = 3600,
        suite_seconds: int = 3600,
        reply_seconds: int = 60,
        max_body: int = 64 << 20,
        most_attempts: int = 3,
    ) -> None:
        """Keep the ledger of this name.

        Args:
            redis: a client that does not decode responses.
            name: prefix of all keys. Ledgers of different names do not know each other.
            answer_seconds: how long an answer can be asked for again.
            fault_seconds: the same, if it tells of a fault of ours.
            cache_seconds: how long an answer is shared with equal submissions; 0 for never.
            suite_seconds: how long a suite stays, at least, after it was last used.
            reply_seconds: how long the answers for an API process that is silent are kept.
            max_body: bytes; a longer body is not given to workers.
            most_attempts: a submission that was started by so many workers that were lost is not tried again.
        """
        self._redis = redis
        self._name = name
        self._scripts = Scripts(redis, name)
        self._packing = Packing()
        self._answer_seconds = answer_seconds
        self._fault_seconds = fault_seconds
        self._cache_seconds = cache_seconds
        self._suite_seconds = suite_seconds
        self._reply_seconds = reply_seconds
        self._max_body = max_body
        self._most_attempts = most_attempts
        self._hands: defaultdict[str, _Hand] = defaultdict(_Hand)
        self._turns = itertools.count()
        self._session = secrets.token_hex(8)

    async def ping(self) -> None:
        """Raises RedisError if Redis is not there."""
        await self._redis.ping()

    # --- submitting

    async def submit(self, entries: Sequence[Entry], api: str, bounds: Bounds) -> tuple[list[Taken], Need]:
        """Take these, all or none; their ids must differ.

        The same id and digest again is the same submission: it is joined, or its answer given. `api` gets the answers
        of what is new or joined on its stream; empty if nobody waits. If Redis fails in the middle, some may have been
        taken: submitting the same again is safe.

        Raises IdReused; QueueFull if a client would have more pending than its share (see bounds.py); RedisError.
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
                reply = await self._scripts.run("submit", arguments)
                wire.check_taken(reply, part)
                need = Need(reply[1], reply[2], reply[3])
                answers = iter(reply[5:])
                for entry, letter in zip(part, reply[4], strict=True):
                    if letter in fresh:
                        fresh[letter].append(entry.id)
                taken += [self._taken(letter, answers) for letter in reply[4]]
        except (IdReused, QueueFull, RedisError, asyncio.CancelledError):
            with suppress(RedisError):  # then they stay, are graded, and are answered to nobody
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
        """This API process has nobody left who waits for these. What nobody waits for or keeps is cancelled."""
        await self._release(api, ids, kept_too=False)

    async def _release(self, api: str, ids: Sequence[str], kept_too: bool) -> None:
        for part in _parts(ids, MOST_ENTRIES):
            await self._scripts.run("release", [api, int(kept_too), *part])

    async def cancel(self, ids: Sequence[str], answer_of: Callable[[str, int], bytes]) -> list[str]:
        """Cancel these, whoever waits for them: they get `answer_of(id, tests)`. Which were pending."""
        struck: list[str] = []
        for part in _parts(ids, MOST_STEPS):
            arguments: list[Argument] = [self._fault_seconds]
            for each, terms in zip(part, await self._terms_of(part), strict=True):
                arguments += (each, self._packing.pack(answer_of(each, terms.tests), True, UNSURE))
            struck += [each.decode() for each in await self._scripts.run("cancel", arguments)]
        return struck

    async def pending_labelled(self, name: str, value: str) -> list[str]:
        """The ids of what is pending and has this label. It looks at all that is pending: for rare use."""
        found: list[str] = []
        async for part in self._pending():
            terms = await self._terms_of(part)
            found += [id_ for id_, each in zip(part, terms, strict=True) if (name, value) in each.labels]
        return found

    async def _terms_of(self, ids: Sequence[str]) -> list[Terms]:
        """Those of each; none, if it is not pending."""
        pipe = self._redis.pipeline(transaction=False)
        for each in ids:
            pipe.hget(f"{self._name}:sub:{each}", "about")
        return [wire.terms(about) for about in await pipe.execute(raise_on_error=False)]

    async def _pending(self) -> AsyncIterator[list[str]]:
        cursor, seen = 0, set[str]()
        while True:
            cursor, rows = await self._redis.zscan(f"{self._name}:pending", cursor, count=MOST_ENTRIES)
            part = [id_ for id_ in (_text(row[0]) for row in rows) if id_ not in seen]  # a scan may repeat itself
            seen.update(part)
            yield part
            if int(cursor) == 0:
                return

    async def look(self, ids: Sequence[str]) -> list[Found]:
        """What is known of each."""
        found: list[Found] = []
        for part in _parts(ids, MOST_ENTRIES):
            found += [self._found(row) for row in await self._scripts.run("look", part)]
        return found

    async def join(self, id: str, api: str) -> Found:  # noqa: A002
        """What is known of it; if it is pending, its answer will come to this API process as well."""
        return self._found(await self._scripts.run("join", [id, api]))

    def _found(self, row: bytes | int) -> Found:
        if isinstance(row, int):
            return _PENDING if row else _GONE
        flag = row[:1]
        digest = row[DIGEST] if flag in (b"G", b"C") else b""
        return Found("answered", self._packing.unpack(row), flag == b"F", flag == b"C", digest)

    # --- working

    async def register(self, worker: str, info: Mapping[str, object], slots: int) -> None:
        """A worker is there. Its name must be new each time one starts: what a namesake holds is taken for its own."""
        if worker == REAPER or not worker:
            raise ValueError(f"no worker may be called {worker!r}")
        await self._scripts.run("register", [worker, json.dumps(info), slots])

    async def claim(self, worker: str, most: int, idle: int, slots: int) -> tuple[list[Claim], Need]:
        """Waiting submissions for a worker with so many slots, of which so many have nothing to do.

        At most 64 and at most `most`; enough for the idle slots, or its share of half of what waits, if that is more.
        High priority comes first; within one, clients take turns. A suspect comes alone, to a worker with an idle slot.
        If the reply to an earlier claim was lost, this one brings the same again.

        Raises Unknown if the worker is not registered; RedisError.
        """
        hand = self._hands[worker]
        async with hand.lock:
            while True:
                turn = f"{self._session}-{next(self._turns)}"
                arguments: list[Argument] = [worker, most, idle, slots, self._max_body, turn, hand.heard]
                reply = await self._scripts.run("claim", arguments)
                need, tired, now = wire.need(reply, worker), reply[4], float(reply[5])
                claims, foreign = [], []
                for row in zip(*[iter(reply[6:])] * 6, strict=True):
                    try:
                        claim = wire.claim(row, now)
                    except ValueError:
                        foreign.append(row[0])
                    else:
                        claims.append(claim)
                        hand.digests[claim.id] = row[3]
                if foreign:
                    await self._refuse(worker, foreign)
                if claims:
                    hand.heard = turn
                if claims or not tired:
                    return claims, need

    async def _refuse(self, worker: str, ids: Sequence[bytes]) -> None:
        """Somebody has written what we do not write, which nothing can be said about but that it goes."""
        arguments: list[Argument] = [worker, 0, 0, 0]
        for each in ids:
            arguments += (b"R", each)
        await self._scripts.run("settle", arguments)

    async def settle(self, worker: str, steps: Sequence[Step]) -> list[str]:
        """What became of submissions that the worker holds, in order. Returns the ids that were no more its own."""
        strangers: list[str] = []
        digests = self._hands[worker].digests if worker in self._hands else {}
        for part in _parts(steps, MOST_STEPS):
            arguments: list[Argument] = [worker, self._answer_seconds, self._fault_seconds, self._cache_seconds]
            for step in _telling(part):
                arguments += self._step(step, digests)
            strangers += [each.decode() for each in await self._scripts.run("settle", arguments)]
            for step in part:
                if not isinstance(step, Start):
                    digests.pop(step.id, None)
        return strangers

    def _step(self, step: Step, digests: dict[str, bytes]) -> tuple[Argument, ...]:
        """In the order that settle.lua reads"""
        match step:
            case Start(id_):
                return b"S", id_
            case Finish(id_, answer, fault, cacheable):
                packed = self._packing.pack(answer, fault, digests.get(id_, UNSURE))
                return b"F", id_, packed, int(cacheable)
            case GiveBack(id_):
                return b"B", id_
            case Drop(id_):
                return b"D", id_

    async def beat(self, worker: str, busy: int, ready_slots: int) -> tuple[list[str], Need]:
        """The worker lives. Returns the ids it is to cancel, again each time until it settles them.

        Raises Unknown if the worker is not registered; RedisError.
        """
        reply = await self._scripts.run("beat", [worker, busy, ready_slots])
        need = wire.need(reply, worker)
        return [each.decode() for each in reply[4:]], need

    async def held(self, worker: str) -> list[str]:
        """What the worker holds, as Redis knows it."""
        return [_text(each) for each in await self._redis.smembers(f"{self._name}:held:{worker}")]

    async def leave(self, worker: str) -> None:
        """The worker goes; all that it holds waits again, with no blame for what was started."""
        await self._scripts.run("leave", [worker])
        self._hands.pop(worker, None)

    async def beats(self) -> dict[str, int]:
        """How often each registered worker has beaten: all that one needs to see who is dead."""
        rows = zip(*[iter(await self._scripts.run("beats"))] * 2, strict=True)
        return {name.decode(): int(beats) for name, beats in rows}

    async def workers(self) -> dict[str, WorkerState]:
        """All registered workers. It takes Redis 14 µs for each: not for every half second."""
        rows = zip(*[iter(await self._scripts.run("workers"))] * 7, strict=True)
        return {row[0].decode(): WorkerState(json.loads(row[1]), *row[2:]) for row in rows}

    # --- reaping

    async def lead(self, name: str, seconds: float) -> bool:
        """Take or keep the lock of the one process that reaps. Whether it is `name`'s for so long."""
        return bool(await self._scripts.run("lead", [name, max(1, round(seconds * 1000))]))

    async def reap(self, worker: str) -> list[Lost]:
        """The worker is dead: what it held waits again, or is lost and must be answered with `finish_lost`.

        Reaping REAPER returns what is lost and not yet answered. Again changes nothing more.
        """
        reply = await self._scripts.run("reap", [worker, self._most_attempts])
        return [Lost(row[0].decode(), row[1], row[2]) for row in zip(*[iter(reply)] * 3, strict=True)]

    async def finish_lost(self, answers: Mapping[str, bytes]) -> None:
        """Answer what is lost."""
        await self.settle(REAPER, [Finish(id_, answer, fault=True) for id_, answer in answers.items()])

    # --- answers on their way

    async def open_replies(self, api: str) -> None:
        """Make the stream of an API process, if it is not there. Read it from "0" on."""
        await self.keep_replies(api)

    async def keep_replies(self, api: str) -> bool:
        """Keep the stream. False if it was gone: answers may be lost, and it is made anew, to be read from "0" on."""
        return bool(await self._scripts.run("replies", [api, self._reply_seconds]))

    async def replies(self, api: str, last: str, wait_seconds: float) -> list[Reply]:
        """At most 1,024 answers after `last`, waiting for the first. What is not after `last` is forgotten."""
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

    # --- suites

    async def put_suite(self, suite: str, body: bytes, seconds: int) -> bool:
        """Keep a suite for at least so long. Whether it is new here."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.set(self._suite(suite), body, ex=seconds, nx=True)
        pipe.expire(self._suite(suite), seconds, gt=True)
        return bool((await pipe.execute())[0])

    async def get_suite(self, suite: str) -> bytes | None:
        """A suite, which then stays for at least `suite_seconds`; None if it is not here."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.get(self._suite(suite))
        pipe.expire(self._suite(suite), self._suite_seconds, gt=True)
        body: bytes | None = (await pipe.execute())[0]
        return body

    async def missing_suites(self, suites: Sequence[str]) -> list[str]:
        """Which of these are not here; those that are stay for at least `suite_seconds`."""
        missing: list[str] = []
        for part in _parts(suites, MOST_ENTRIES):
            missing += [each.decode() for each in await self._scripts.run("missing", [self._suite_seconds, *part])]
        return missing

    def _suite(self, suite: str) -> str:
        return f"{self._name}:suite:{suite}"

    # --- figures

    async def count(self, what: str, times: int = 1) -> None:
        """Count something that happened outside of the ledger, under a name of its own."""
        await self._redis.hincrby(f"{self._name}:stats", what, times)

    async def totals(self) -> Totals:
        """The whole ledger in figures."""
        count, waiting, size, cost, oldest, clients, stats, workers = await self._scripts.run("totals")
        named = {key.decode(): int(value) for key, value in zip(*[iter(stats)] * 2, strict=True)}
        return Totals(count, waiting, size, cost / wire.MICROSECONDS, float(oldest), clients, named, workers)


def _parts(items: Sequence[_T], most: int) -> Iterator[Sequence[_T]]:
    for at in range(0, len(items), most):
        yield items[at : at + most]


def _parts_and_rest(entries: Sequence[Entry]) -> Iterator[tuple[Sequence[Entry], Sequence[Entry]]]:
    """Parts of a size for one call; with the first the rest, for which there must be room as well."""
    for at in range(0, len(entries), MOST_ENTRIES):
        yield entries[at : at + MOST_ENTRIES], entries[MOST_ENTRIES:] if at == 0 else ()


def _text(value: Any) -> str:
    text: str = value.decode()
    return text


def _telling(steps: Sequence[Step]) -> Iterator[Step]:
    """Without the starts of what the same call finishes: nobody could ever see them."""
    finished = {step.id for step in steps if isinstance(step, Finish)}
    return (step for step in steps if not isinstance(step, Start) or step.id not in finished)
