"""The table of the ledger's keys (keys.md) against the keys that a running fleet leaves in Redis.

Every key matches exactly one row, has the row's type, hash fields and kind of expiry; and every row is seen.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple

from redis.asyncio import Redis

from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.fleet.ledger.entries import Start
from tests.fakes import HOLD, hold_only, made, until
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup

PREFIX = "proctor:"
TERMS = {"alice": KeyTerms(submissions=60.0)}


class Row(NamedTuple):
    """A row of the table."""

    pattern: str
    type: str
    fields: frozenset[str]
    expires: bool

    def matches(self, key: str) -> bool:
        parts = re.split(r"\{[a-z]+\}", self.pattern)
        return re.fullmatch(".+".join(map(re.escape, parts)), key, re.DOTALL) is not None


def table() -> Iterator[Row]:
    """The rows of keys.md."""
    text = (files("sandbox_service.fleet.ledger") / "keys.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("| `"):
            key, kind, _, fields, _, expires = (cell.strip() for cell in line.strip("|").split("|"))
            yield Row(
                key.strip("`"), kind, frozenset(fields.replace("`", "").split()), expires not in ("deleted", "kept")
            )


class Observed:
    """Rows that were seen, and keys that no row describes."""

    def __init__(self) -> None:
        self.rows = list(table())
        self.seen: Counter[str] = Counter()
        self.wrong: set[str] = set()

    async def scan(self, redis: Redis) -> None:
        async for raw in redis.scan_iter(count=1000):
            key = raw.decode("latin-1")
            if not key.startswith("rq:"):
                await self._check(redis, raw, key)

    async def _check(self, redis: Redis, raw: bytes, key: str) -> None:
        rows = [row for row in self.rows if row.matches(key.removeprefix(PREFIX))]
        if not key.startswith(PREFIX) or len(rows) != 1:
            self.wrong.add(f"{key}: {len(rows)} rows")
            return
        [row] = rows
        pipe = redis.pipeline(transaction=True)
        pipe.type(raw)
        pipe.ttl(raw)
        if row.type == "hash":
            pipe.hkeys(raw)
        kind, ttl, *fields = await pipe.execute(raise_on_error=False)
        if kind == b"none":
            return  # deleted since the scan
        self.seen[row.pattern] += 1
        found = {each.decode() for each in (fields[0] if fields else [])}
        is_known = row.fields == {"any"} or found <= row.fields
        if kind.decode() != row.type or (ttl >= 0) != row.expires or not is_known:
            self.wrong.add(f"{key}: {kind} {ttl} {found - row.fields}")


async def load(fleet: Fleet, observed: Observed, redis: Redis) -> None:
    """Submissions that wait, run, are answered, cached, cancelled and lost with a worker."""
    world, ledger = fleet.world, fleet.ledger
    for name in ("first", "second"):  # the second one's answer comes from the cache
        await world.grade(made(name, "quick"))
    await world.grade(made("bounded", "quick", key="alice"))
    held = [await world.take(made(f"held{each}", HOLD)) for each in range(world.ahead + 40)]
    await world.until_held(HOLD)
    while not observed.seen["suspects"]:  # the other worker may claim a suspect before the scan sees it
        await ledger.register("doomed", {}, 1)
        claims, _ = await ledger.claim("doomed", 1, 1, 1)
        await ledger.apply_steps("doomed", [Start(each.id) for each in claims])
        await observed.scan(redis)
        await ledger.reap("doomed")
        await observed.scan(redis)
    await world.queue.cancel([held[0].id])
    while not observed.seen["cancel:{worker}"]:  # a worker that runs may stop it before the scan
        await ledger.register("slow", {}, 1)
        claims, _ = await ledger.claim("slow", 1, 1, 1)
        await ledger.apply_steps("slow", [Start(each.id) for each in claims])
        await world.queue.cancel([each.id for each in claims])
        await observed.scan(redis)
        await ledger.reap("slow")
    await until(lambda: observed.seen["lead"] > 0)
    for waiter in held:
        waiter.release()
    await world.until_depth(0)


def test_the_keys_of_a_running_fleet_are_those_of_the_table() -> None:
    observed = Observed()

    loaded = asyncio.Event()

    async def scan(redis: Redis) -> None:
        while not loaded.is_set():  # a cancelled scan may go on: redis may take the cancellation for a timeout
            await observed.scan(redis)
            await asyncio.sleep(0.02)

    async def run() -> None:
        async with asyncio.timeout(HANG_GUARD_SECONDS):
            async with running_fleet(Setup(hold_only(HOLD), cache_seconds=60, terms=TERMS)) as fleet:
                redis: Any = Redis.from_url(fleet.redis.url)
                scanning = asyncio.create_task(scan(redis))
                await load(fleet, observed, redis)
                loaded.set()
                await scanning
                await observed.scan(redis)
                await redis.aclose()

    asyncio.run(run())
    assert observed.wrong == set()
    assert {row.pattern for row in observed.rows} - set(observed.seen) == set()


def test_each_key_of_the_scripts_has_a_row() -> None:
    scripts = files("sandbox_service.fleet.ledger") / "scripts"
    text = "".join(each.read_text(encoding="utf-8") for each in scripts.iterdir() if each.name.endswith(".lua"))
    named = {key.rstrip(":") for key in re.findall(r"PREFIX \.\. '([a-z]+:?)'", text)}
    assert named == {row.pattern.partition(":")[0] for row in table()}
