"""The class Ledger: all calls of the ledger, for API processes and for workers.

Each change is one Lua function, so a process that dies leaves nothing half done. Each may be repeated when its reply
was lost. Times are those of the Redis server. The keys are described in keys.md. It works with a single Redis, not with
Redis Cluster. RQ jobs are not part of it: a wake-up that is lost or made twice changes nothing here.

The Redis client must not decode responses, and its socket timeout must be longer than any wait for replies. Redis' own
errors (redis.exceptions.RedisError) pass through: when Redis is full, it refuses calls that take memory and not those
that free it. Ids, clients and suites are any text of reasonable length; names of workers and API processes have no
spaces.

A program that can write to this Redis can forge answers. Malformed entries are refused, so that a mistake does not stop
the fleet, but that is no defence: protect Redis by a password, and keep it where no submission reaches it.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import Any

from sandbox_service.fleet.ledger import wire
from sandbox_service.fleet.ledger.calls import MOST_ENTRIES, parts
from sandbox_service.fleet.ledger.entries import Totals
from sandbox_service.fleet.ledger.formats import FORGET_SECONDS, FORMAT
from sandbox_service.fleet.ledger.submissions import SubmissionCalls
from sandbox_service.fleet.ledger.workers import WorkerCalls
from sandbox_service.queues.quotas import Usage


class Ledger(SubmissionCalls, WorkerCalls):
    """All calls of the ledger; those here are about suites and figures. See LedgerCalls for the arguments."""

    async def ping(self) -> None:
        """Raise RedisError if Redis cannot be reached."""
        await self._redis.ping()

    async def lost_seconds_ago(self) -> float | None:
        """Return how long ago Redis may have lost its data; None if it is not known to have lost any."""
        memory, seconds = await self._functions.run("memory", [secrets.token_hex(8), self._memory])
        self._memory = memory.decode()
        return None if float(seconds) < 0 else float(seconds)

    async def note_format(self) -> None:
        """Note that a process of this version uses the ledger. Call it at the start and every minute."""
        await self._functions.run("formats", [str(FORMAT), FORGET_SECONDS])

    # --- suites

    async def put_suite(self, suite: str, body: bytes, seconds: int) -> bool:
        """Keep a suite.

        Args:
            suite: its id.
            body: its bytes.
            seconds: how long to keep it, at least.

        Returns:
            True if it is new.
        """
        pipe = self._redis.pipeline(transaction=False)
        pipe.set(self._suite(suite), body, ex=seconds, nx=True)
        pipe.expire(self._suite(suite), seconds, gt=True)
        return bool((await pipe.execute())[0])

    async def get_suite(self, suite: str) -> bytes | None:
        """Return a suite, which then stays for at least `suite_seconds`; None if Redis does not have it."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.get(self._suite(suite))
        pipe.expire(self._suite(suite), self._suite_seconds, gt=True)
        body: bytes | None = (await pipe.execute())[0]
        return body

    async def missing_suites(self, suites: Sequence[str]) -> list[str]:
        """Return the ids of those suites that Redis does not have; the others stay for at least `suite_seconds`."""
        missing: list[str] = []
        for part in parts(suites, MOST_ENTRIES):
            missing += [each.decode() for each in await self._functions.run("missing", [self._suite_seconds, *part])]
        return missing

    def _suite(self, suite: str) -> str:
        return f"{self._name}:suite:{suite}"

    # --- recent submissions

    async def append_recent(self, part: bytes, most: int) -> None:
        """Append a part to the stream of recent submissions; see observe/shared_history.py.

        Args:
            part: its bytes.
            most: the most parts that are kept, about.
        """
        await self._redis.xadd(f"{self._name}:recent", {"part": part}, maxlen=most, approximate=True)

    async def read_recent(self, last: str, count: int) -> list[tuple[str, bytes]]:
        """Return the parts behind one, each with its id in the stream.

        Args:
            last: the id of that part; "0" for the first ones.
            count: the most parts to return.
        """
        found: Any = await self._redis.xrange(f"{self._name}:recent", min=f"({last}", count=count)
        return [(name.decode(), fields.get(b"part", b"")) for name, fields in found]

    # --- quotas

    async def charge(self, key: str, usage: Usage, quota: Usage) -> Usage:
        """See queues.quotas.Levels."""
        rates = [each if math.isfinite(each) else 0.0 for each in quota]
        found = await self._functions.run("charge", [key, *map(repr, usage), *map(repr, rates)])
        return Usage(*map(float, found))

    # --- figures

    async def count(self, event: str, times: int = 1) -> None:
        """Count an event that happened outside of the ledger so many times."""
        await self._redis.hincrby(f"{self._name}:stats", event, times)

    async def totals(self) -> Totals:
        """Return the whole ledger in figures."""
        count, waiting, size, cost, oldest, clients, stats, workers = await self._functions.run("totals")
        named = {key.decode(): int(value) for key, value in zip(*[iter(stats)] * 2, strict=True)}
        return Totals(count, waiting, size, cost / wire.MICROSECONDS, float(oldest), clients, named, workers)
