"""A real Redis for all of the ledger's tests, emptied before each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.ledger import Ledger
from tests.redis_server import RedisServer, running_redis


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The tests are coroutines, run by asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One server for all tests that do it no harm."""
    with running_redis() as server:
        yield server


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[Redis]:
    """A client of the server, which is empty."""
    client = Redis.from_url(redis_server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
def ledger(redis: Redis) -> Ledger:
    """An empty ledger."""
    return Ledger(redis, "test")
