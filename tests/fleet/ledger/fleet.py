"""Helpers of the ledger's tests: entries, and shorthands for calls."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redis.asyncio import Redis

from sandbox_service.bounds import Bounds
from sandbox_service.fleet.ledger.entries import Claim, Entry, Finish, Reply, Start, Terms
from sandbox_service.fleet.ledger.ledger import Ledger

ROOMY = Bounds(1_000_000, 10**10, 1e9)


def entry(
    id_: str, body: bytes = b"print(1)", own_bytes: int = 0, labels: Mapping[str, str] | None = None, **other: Any
) -> Entry:
    """A submission; its digest is that of its body."""
    given: dict[str, Any] = {"suite": "suite", "client": "anna", "priority": 1, "cost": 0.5, "tests": 3} | other
    terms = Terms(**given, labels=tuple((labels or {}).items()))
    return Entry(id_, hashlib.blake2b(body, digest_size=16).digest(), body, terms, own_bytes)


def entries(prefix: str, count: int, **other: Any) -> list[Entry]:
    """So many, numbered."""
    return [entry(f"{prefix}{number}", **other) for number in range(count)]


async def submit(ledger: Ledger, *items: Entry, api: str = "api", bounds: Bounds = ROOMY) -> list[str]:
    """Submit these; what became of each."""
    return [each.state for each in (await ledger.submit(items, api, bounds))[0]]


async def claim(ledger: Ledger, worker: str, most: int = 16, idle: int = 16, slots: int = 16) -> list[Claim]:
    """What a worker is given that would take anything."""
    return (await ledger.claim(worker, most, idle, slots))[0]


async def run(ledger: Ledger, worker: str, claims: Sequence[Claim], answer: bytes = b"answer") -> list[str]:
    """Start and finish all; the ids that were refused."""
    await ledger.apply_steps(worker, [Start(each.id) for each in claims])
    return await ledger.apply_steps(worker, [Finish(each.id, answer) for each in claims])


async def all_replies(ledger: Ledger, api: str = "api") -> list[Reply]:
    """What is on the stream now."""
    return await ledger.replies(api, "0", 0.0)


def ids(items: Iterable[Claim | Entry | Reply]) -> list[str]:
    """Their ids, in order."""
    return [each.id for each in items]


async def keys(redis: Redis) -> list[str]:
    """All keys that there are."""
    found: list[Any] = await redis.keys("*")
    return [key.decode(errors="replace") for key in found]


def cancelled(id_: str, tests: int) -> bytes:
    """What those are answered who wait for something that is cancelled by its id."""
    return f"cancelled {id_}, {tests} tests".encode()


async def residue(redis: Redis, name: str = "test") -> list[str]:
    """The keys that hold state: not answers and suites, which go by themselves, nor statistics, nor live workers."""
    left = []
    for key in await keys(redis):
        kind = key.removeprefix(f"{name}:").split(":")[0]
        if kind in ("res", "cache", "suite", "rep"):
            assert await redis.ttl(key) > 0, key
        elif kind not in ("stats", "workers", "worker", "slots", "beats", "idle"):
            left.append(key)
    return sorted(left)
