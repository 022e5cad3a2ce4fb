"""The formats that versions note in Redis: neighbours share it, others are refused in words before they touch it."""

from __future__ import annotations

import itertools

import pytest
from redis.asyncio import Redis

from sandbox_service.errors import ConfigurationError
from sandbox_service.fleet import wakeup
from sandbox_service.fleet.ledger import ledger as module
from sandbox_service.fleet.ledger.formats import FORMAT, LedgerFormat, check_shared
from sandbox_service.fleet.ledger.ledger import Ledger
from tests.fleet.ledger.fleet import entry, submit
from tests.redis_server import RedisServer

READS_BOTH = LedgerFormat(writes=1, reads_from=1, reads_to=2)  # the first release of a change
WRITES_NEW = LedgerFormat(writes=2, reads_from=1, reads_to=2)  # the second
WITHOUT_OLD = LedgerFormat(writes=2, reads_from=2, reads_to=3)


@pytest.mark.parametrize("other", [FORMAT, READS_BOTH])
def test_neighbours_share_a_redis(other: LedgerFormat) -> None:
    check_shared("host:6379", [str(other).encode()], FORMAT)
    check_shared("host:6379", [str(FORMAT).encode()], other)


def test_each_release_of_a_change_shares_it_with_the_one_before() -> None:
    releases = [FORMAT, READS_BOTH, WRITES_NEW, WITHOUT_OLD]
    for before, after in itertools.pairwise(releases):
        check_shared("host:6379", [str(before).encode()], after)


@pytest.mark.parametrize("other", [WRITES_NEW, WITHOUT_OLD])
def test_versions_that_are_not_neighbours_are_refused_with_both_formats(other: LedgerFormat) -> None:
    for own, noted in ((FORMAT, other), (other, FORMAT)):
        with pytest.raises(ConfigurationError, match=f"host:6379 .* writes format {noted.writes} .* by one release"):
            check_shared("host:6379", [str(noted).encode()], own)


def test_what_no_version_has_noted_is_passed_over() -> None:
    check_shared("host:6379", [b"", b"1", b"\xff/1-1", b"1/1-" + b"9" * 100], FORMAT)


@pytest.mark.anyio
async def test_a_process_is_refused_while_another_version_uses_the_redis(
    ledger: Ledger, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ledger.note_format()
    wakeup.require_usable(redis_server.url, "test")
    monkeypatch.setattr(module, "FORMAT", WITHOUT_OLD)
    await ledger.note_format()
    with pytest.raises(ConfigurationError, match="another version"):
        wakeup.require_usable(redis_server.url, "test")
    wakeup.require_usable(redis_server.url, "another")


@pytest.mark.anyio
async def test_a_format_is_forgotten_when_nothing_of_it_is_left(ledger: Ledger, redis: Redis) -> None:
    await redis.zadd("test:formats", {str(WITHOUT_OLD): 1.0})
    await submit(ledger, entry("a"))
    await ledger.note_format()
    assert await redis.zcard("test:formats") == 2  # what waits may have been written in it
    await ledger.cancel(["a"], lambda *_: b"cancelled")
    await ledger.note_format()
    assert await redis.zrange("test:formats", 0, -1) == [str(FORMAT).encode()]
