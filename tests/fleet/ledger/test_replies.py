"""Answers on the streams of API processes, and suites."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Finish
from sandbox_service.fleet.ledger.ledger import Ledger
from tests.fleet.ledger.fleet import all_replies, claim, entries, entry, ids, run, submit
from tests.redis_server import RedisServer

pytestmark = pytest.mark.anyio


async def answer(ledger: Ledger, *names: str) -> None:
    """Submit and answer these."""
    await submit(ledger, *map(entry, names))
    await run(ledger, "w", await claim(ledger, "w"))


async def test_answers_are_read_in_order_and_forgotten_when_the_next_are_read(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await answer(ledger, "a", "b")
    first = await ledger.replies("api", "0", 1.0)
    assert ids(first) == ids(await ledger.replies("api", "0", 1.0)) == ["a", "b"]  # a reader that died loses nothing
    await answer(ledger, "c")
    assert ids(await ledger.replies("api", first[-1].stream_id, 1.0)) == ["c"]
    assert await redis.xlen("test:rep:api") == 2  # the last that was read, and what it did not yet confirm


async def test_answers_to_several_go_to_each_together(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await ledger.open_replies("other")
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 40))
    await submit(ledger, *entries("b", 3), api="other")
    await submit(ledger, *entries("a", 2), api="other")
    await run(ledger, "w", await claim(ledger, "w", 64, 64, 64))
    assert ids(await all_replies(ledger)) == ids(entries("a", 40))
    assert sorted(ids(await all_replies(ledger, "other"))) == sorted(ids(entries("a", 2) + entries("b", 3)))
    assert (await redis.xlen("test:rep:api"), await redis.xlen("test:rep:other")) == (3, 1)


async def test_a_long_answer_is_the_last_of_its_reply(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 3))
    claims = await claim(ledger, "w")
    await ledger.apply_steps("w", [Finish(each.id, os.urandom(70_000)) for each in claims])
    assert [len(each.answer) for each in await all_replies(ledger)] == [70_000] * 3
    assert await redis.xlen("test:rep:api") == 3


async def test_at_most_1024_come_at_once(ledger: Ledger) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 1100))
    while claims := await claim(ledger, "w"):
        await run(ledger, "w", claims)
    first = await all_replies(ledger)
    rest = await ledger.replies("api", first[-1].stream_id, 0.0)
    assert (len(first), len(rest)) == (1024, 76)
    assert ids(first + rest) == ids(entries("a", 1100))


@pytest.mark.parametrize("protocol", [2, 3])
async def test_waiting_ends_with_an_answer_or_with_the_time(redis_server: RedisServer, protocol: int) -> None:
    redis = Redis.from_url(redis_server.url, protocol=protocol)
    await redis.flushall()
    ledger = Ledger(redis, "test")
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    began = time.monotonic()
    assert await ledger.replies("api", "0", 0.1) == []
    assert 0.09 <= time.monotonic() - began < 15
    waiting = asyncio.ensure_future(ledger.replies("api", "0", 20.0))
    await asyncio.sleep(0.05)
    await answer(ledger, "a")
    assert [(each.id, each.answer) for each in await waiting] == [("a", b"answer")]
    assert time.monotonic() - began < 15
    await redis.aclose()


async def test_a_dead_api_process_is_forgotten_and_not_made_again(redis: Redis) -> None:
    ledger = Ledger(redis, "test", reply_seconds=1)
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    assert await ledger.keep_replies("api")
    await redis.delete("test:rep:api")  # as its time had passed
    await answer(ledger, "a")
    assert await redis.exists("test:rep:api") == 0
    assert not await ledger.keep_replies("api")
    assert await ledger.keep_replies("api")
    assert 0 < await redis.pttl("test:rep:api") <= 1000
    await answer(ledger, "b")
    assert ids(await ledger.replies("api", "0", 1.0)) == ["b"]


async def test_opening_again_loses_nothing(ledger: Ledger) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await answer(ledger, "a")
    await ledger.open_replies("api")
    assert ids(await all_replies(ledger)) == ["a"]


async def test_a_submission_for_which_nobody_waits_is_answered_to_nobody(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", keep=True), api="")
    await run(ledger, "w", await claim(ledger, "w"))
    assert (await ledger.look(["a"]))[0].answer == b"answer"


@pytest.mark.parametrize("at", [17, 22, -5, -1])
async def test_an_answer_that_is_not_as_it_was_written_is_none(ledger: Ledger, redis: Redis, at: int) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await answer(ledger, "a")
    written = await redis.get("test:res:a")
    assert isinstance(written, bytes)
    damaged = bytearray(written)
    damaged[at] ^= 1
    await redis.set("test:res:a", bytes(damaged))
    await redis.xadd("test:rep:api", {"a": bytes(damaged)})
    assert [each.answer for each in await all_replies(ledger)] == [b"answer", b""]
    assert [each.answer for each in await ledger.look(["a"])] == [b""]


async def test_suites_are_kept_while_they_are_used(redis: Redis) -> None:
    ledger = Ledger(redis, "test", suite_seconds=100)
    assert await ledger.missing_suites(["s", "t"]) == ["s", "t"]
    assert await ledger.put_suite("s", b"\0tests", 50)
    assert not await ledger.put_suite("s", b"\0tests", 20)
    assert 40 < await redis.ttl("test:suite:s") <= 50
    assert await ledger.get_suite("s") == b"\0tests"
    assert 90 < await redis.ttl("test:suite:s") <= 100
    assert not await ledger.put_suite("s", b"\0tests", 1000)
    assert await ledger.missing_suites(["s", "t"]) == ["t"]
    assert await redis.ttl("test:suite:s") > 900
    assert await ledger.get_suite("t") is None


async def test_a_look_tells_each_state_and_is_two_commands_if_all_are_pending(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 50))
    await ledger.look(["a0"])  # loads the library
    await redis.config_resetstat()
    assert {each.state for each in await ledger.look([f"a{number}" for number in range(50)])} == {"pending"}
    counted = await redis.info("commandstats")
    assert {name: counted[f"cmdstat_{name}"]["calls"] for name in ("fcall", "mget", "exists")} == dict.fromkeys(
        ("fcall", "mget", "exists"), 1
    )
    assert "cmdstat_get" not in counted
    [first] = ids((await ledger.claim("w", 1, 1, 1))[0])
    await ledger.apply_steps("w", [Finish(first, b"answer")])
    await redis.lpush("test:res:a7", "of another program")
    states = [each.state for each in await ledger.look(["a7", first, "unknown", "a8"])]
    assert states == ["pending", "answered", "gone", "pending"]


async def test_ping(ledger: Ledger) -> None:
    await ledger.ping()
