"""Transient errors of Redis are retried, in whatever form they arrive; others are not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from sandbox_service.errors import UnavailableError
from sandbox_service.fleet import retry
from sandbox_service.fleet.retry import with_retries
from tests.redis_server import RedisServer, running_redis

TRANSIENT = [
    "MISCONF Errors writing to the AOF file: No space left on device",
    "LOADING Redis is loading the dataset in memory",
    "READONLY You can't write against a read only replica.",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "NOREPLICAS Not enough good replicas to write.",
    "OOM command not allowed when used memory > 'maxmemory'.",
]
LASTING = ["WRONGTYPE Operation against a key holding the wrong kind of value", "ERR a value that says MISCONF"]

TIMES = 3

Action = Callable[[Redis, str], Awaitable[object]]


async def alone(redis: Redis, said: str) -> object:
    return await redis.eval("return redis.error_reply(ARGV[1])", 0, said)


async def in_a_pipeline(redis: Redis, said: str) -> object:
    pipe = redis.pipeline(transaction=False)
    pipe.get("something")
    pipe.eval("return redis.error_reply(ARGV[1])", 0, said)
    return await pipe.execute()


async def in_a_transaction(redis: Redis, said: str) -> object:
    pipe = redis.pipeline(transaction=True)
    pipe.eval("return redis.error_reply(ARGV[1])", 0, said)
    return await pipe.execute()


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "RETRY_SECONDS", 0.0)


def asked(server: RedisServer, act: Action, said: str) -> int:
    """How often it was asked, by one who closes after the third time."""
    times = 0

    async def scenario() -> None:
        async with Redis.from_url(server.url) as redis:

            async def once() -> object:
                nonlocal times
                times += 1
                return await act(redis, said)

            await with_retries(once, lambda: times == TIMES)

    with pytest.raises((UnavailableError, RedisError)) as caught:
        asyncio.run(scenario())
    assert isinstance(caught.value, UnavailableError) == (times == TIMES)
    return times


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("act", [alone, in_a_pipeline, in_a_transaction])
@pytest.mark.parametrize("said", [*TRANSIENT, *LASTING], ids=lambda said: said.partition(" ")[0] + str(len(said)))
def test_what_passes_is_waited_for(redis_server: RedisServer, act: Action, said: str) -> None:
    assert asked(redis_server, act, said) == (TIMES if said in TRANSIENT else 1)
