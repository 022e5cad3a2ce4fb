"""Quotas in the ledger, when the clock of Redis was set."""

from __future__ import annotations

import time

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.queues.quotas import Usage

pytestmark = pytest.mark.anyio

QUOTA = Usage(60.0, 600.0)


@pytest.mark.parametrize(("at", "level"), [(3600.0, 31.0), (0.0, 31.0), (-10.0, 21.0), (-3600.0, 1.0)])
async def test_a_clock_that_was_set_back_raises_no_level(ledger: Ledger, redis: Redis, at: float, level: float) -> None:
    await ledger.charge("carol", Usage(30.0, 0.0), QUOTA)
    await redis.hset("test:quota:carol", "at", f"{time.time() + at:.6f}")
    found = await ledger.charge("carol", Usage(1.0, 5.0), QUOTA)
    assert found == pytest.approx((level, 5.0), abs=0.5)
