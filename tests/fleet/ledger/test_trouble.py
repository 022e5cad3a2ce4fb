"""Damaged keys, and errors of Redis itself."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError, RedisError, ResponseError

from sandbox_service.fleet.ledger.entries import Drop, Finish, Start, UnknownWorkerError
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.ledger.workers import NO_BEAT
from tests.fleet.ledger.fleet import ROOMY, all_replies, cancelled, claim, entries, entry, ids, residue, run, submit
from tests.redis_server import running_redis

pytestmark = pytest.mark.anyio

STRANGE = [
    "with space",
    "with\nnew line",
    "nul\0inside",
    "a:b:c",
    ":",
    "1:anna",
    "*",
    "[x]?",
    '"quoted"',
    "ünï çødé 漢字 🦀",
    unicodedata.normalize("NFD", "é"),
    "é",
    "-1",
    "reaper",
    "x" * 256,
]


async def test_any_text_is_an_id_and_a_client(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await ledger.register("w w:\n\0", {}, 4)
    batch = [entry(name, client=client) for name, client in zip(STRANGE, reversed(STRANGE), strict=True)]
    await submit(ledger, *batch, *(entry(f"more of {name}", client=name) for name in STRANGE))
    assert (await ledger.totals()).clients == len(STRANGE)
    seen: list[str] = []
    while claims := await claim(ledger, "w w:\n\0"):
        seen += ids(claims)
        assert await run(ledger, "w w:\n\0", claims) == []
    assert sorted(seen) == sorted([*STRANGE, *(f"more of {name}" for name in STRANGE)])
    assert sorted(ids(await all_replies(ledger))) == sorted(seen)
    assert await residue(redis) == []


async def test_strange_ids_survive_a_lost_reply_cancellation_and_reaping(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 16)
    await submit(ledger, *map(entry, STRANGE))
    await ledger._functions.run("exchange", ["w", 16, *NO_BEAT, 16, 16, 1 << 20, "a turn", "", 2, 0, 0, 0])
    assert sorted(ids(await claim(ledger, "w"))) == sorted(STRANGE)
    await ledger.release("api", STRANGE[:5])
    told, *_ = await ledger.beat("w", 1, 1)
    assert sorted(told) == sorted(STRANGE[:5])
    await ledger.apply_steps("w", [Drop(each) for each in told])
    await ledger.reap("w")
    await ledger.register("x", {}, 16)
    assert sorted(ids(await claim(ledger, "x"))) == sorted(STRANGE[5:])


# --- what somebody else has written


async def _field_gone(redis: Redis, field: str) -> None:
    await redis.hdel("test:sub:bad", field)


async def _body_too_long(redis: Redis) -> None:
    await redis.hset("test:sub:bad", "body", b"x" * (10 << 20))


async def _no_hash(redis: Redis) -> None:
    await redis.set("test:sub:bad", b"not a hash")


async def _key_gone(redis: Redis) -> None:
    await redis.delete("test:sub:bad")


async def _about(redis: Redis, text: str) -> None:
    await redis.hset("test:sub:bad", "about", text)


async def _attempts_is_text(redis: Redis) -> None:
    await redis.hset("test:sub:bad", "attempts", b"many")


async def _digest_is_short(redis: Redis) -> None:
    await redis.hset("test:sub:bad", "digest", b"x")


FIELDS = ("body", "digest", "about", "bytes", "taken")
ABOUT = {
    "no JSON": "anna",
    "no list": '{"client": "anna"}',
    "too short": '["suite", "anna", 1, 500000, 3, ""]',
    "suite": '[1, "anna", 1, 500000, 3, "", {}]',
    "client": '["suite", null, 1, 500000, 3, "", {}]',
    "priority": '["suite", "anna", 3, 500000, 3, "", {}]',
    "priority is text": '["suite", "anna", "1", 500000, 3, "", {}]',
    "cost": '["suite", "anna", 1, "dear", 3, "", {}]',
    "cost without an end": '["suite", "anna", 1, 1e999, 3, "", {}]',
    "tests": '["suite", "anna", 1, 500000, -1, "", {}]',
    "half a test": '["suite", "anna", 1, 500000, 0.5, "", {}]',
    "graders": '["suite", "anna", 1, 500000, 3, null, {}]',
    "labels": '["suite", "anna", 1, 500000, 3, "", "anna"]',
    "labels without names": '["suite", "anna", 1, 500000, 3, "", [1]]',
    "one that is more": '["suite", "anna", 1, 500000, 3, "", {}, 4]',
    "deep": '["suite", "anna", 1, 500000, 3, "", ' + 900 * "[" + 900 * "]" + "]",
}
HARM: dict[str, Callable[[Redis], Awaitable[None]]] = {
    **{f"no {field}": lambda redis, field=field: _field_gone(redis, field) for field in FIELDS},  # type: ignore[misc]
    "10 MB": _body_too_long,
    "no hash": _no_hash,
    "no key": _key_gone,
    **{f"about: {name}": lambda redis, text=text: _about(redis, text) for name, text in ABOUT.items()},  # type: ignore[misc]
    "attempts": _attempts_is_text,
    "digest": _digest_is_short,
}


@pytest.mark.parametrize("harm", HARM)
async def test_a_spoilt_entry_is_refused_and_stops_nobody(redis: Redis, harm: str) -> None:
    ledger = Ledger(redis, "test", max_body=1 << 20)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("good"), entry("bad"), entry("better"), entry("best", client="bert"))
    await HARM[harm](redis)
    claims = await claim(ledger, "w")
    assert sorted(ids(claims)) == ["best", "better", "good"]
    totals = await ledger.totals()
    assert (totals.count, totals.waiting, totals.stats) == (3, 0, {"refused": 1})
    await run(ledger, "w", claims)
    assert await residue(redis) == []
    assert await submit(ledger, entry("bad")) == ["new"]
    assert ids(await claim(ledger, "w")) == ["bad"]


@pytest.mark.parametrize(
    "key",
    [
        b"ready:1:anna",
        b"ring:1",
        b"ring:0",
        b"suspects",
        b"res:a",
        b"sub:a",
        b"cache:" + entry("a").digest + b"key",
        b"rep:api",
        b"lead",
    ],
)
async def test_a_key_of_a_wrong_type_stops_nobody(ledger: Ledger, redis: Redis, key: bytes) -> None:
    wrong = redis.set if key.split(b":")[0] not in (b"res", b"cache", b"lead") else redis.lpush
    await wrong(b"test:" + key, "nonsense")
    await ledger.register("w", {}, 4)
    assert await submit(ledger, entry("a", graders="key")) == ["new"]
    assert ids(await claim(ledger, "w")) == ["a"]
    assert await ledger.apply_steps("w", [Finish("a", b"answer", cacheable=True)]) == []
    assert await ledger.lead("one", 1.0)
    assert (await ledger.look(["a"]))[0].answer == b"answer"


async def test_a_list_that_was_spoilt_after_submitting_stops_nobody_else(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b", client="bert"))
    await redis.delete("test:ready:1:anna")
    await redis.set("test:ready:1:anna", "nonsense")
    assert ids(await claim(ledger, "w")) == ["b"]
    assert await submit(ledger, entry("c")) == ["new"]
    assert ids(await claim(ledger, "w")) == ["c"]


async def test_forged_ids_in_a_list_are_skipped(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    await redis.lpush("test:ready:1:anna", *(f"forged{number}" for number in range(5000)))
    assert ids(await claim(ledger, "w")) == ["a"]
    assert (await ledger.totals()).count == 1


# --- what Redis may do


async def test_scripts_that_were_forgotten_are_sent_again(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    for each in entries("a", 3):
        await redis.function_flush()
        assert await submit(ledger, each) == ["new"]
        await redis.function_flush()
        assert await run(ledger, "w", await claim(ledger, "w")) == []


@pytest.mark.parametrize("next_name", ["test", "other"])
async def test_a_call_that_fails_leaves_nothing_to_the_next(ledger: Ledger, redis: Redis, next_name: str) -> None:
    """The functions share variables, and a call that fails does not reach its end."""
    await submit(ledger, entry("a"), entry("b"))
    await redis.set("test:stats", "not a hash")
    with pytest.raises(ResponseError):
        await ledger.cancel(["a"], cancelled)
    await redis.delete("test:stats")
    before = sorted(await redis.keys())
    await Ledger(redis, next_name).leave("nobody")  # it writes counts
    assert sorted(await redis.keys()) == before
    assert (await ledger.totals()).count == 1


async def test_a_redis_that_lost_its_memory_is_a_new_beginning(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b"))
    await claim(ledger, "w", 1, 1, 0)
    await ledger.apply_steps("w", [Start("a")])
    await redis.flushall()
    with pytest.raises(UnknownWorkerError):
        await ledger.beat("w", 1, 3)
    with pytest.raises(UnknownWorkerError):
        await claim(ledger, "w")
    assert await ledger.apply_steps("w", [Finish("a", b"answer")]) == ["a"]
    assert await ledger.replies("api", "0", 0.0) == []
    assert not await ledger.keep_replies("api")
    assert [each.state for each in await ledger.look(["a", "b"])] == ["gone", "gone"]
    await ledger.release("api", ["a", "b"])
    await ledger.leave("w")
    assert await ledger.reap("w") == []
    await ledger.register("w2", {}, 4)
    assert await submit(ledger, entry("a"), entry("b")) == ["new", "new"]
    await run(ledger, "w2", await claim(ledger, "w2"))
    assert ids(await all_replies(ledger)) == ["a", "b"]
    assert await residue(redis) == []


@pytest.mark.parametrize(
    "lost",
    [
        ["waiting"],
        ["pending"],
        ["load", "load:*", "clients"],
        ["ring:*"],
        ["ready:*"],
        ["pending", "waiting", "load", "load:*", "clients"],
        ["suspects"],
        ["held:*", "started:*"],
        ["workers", "slots"],
        ["workers", "worker:*", "beats", "slots", "idle"],
    ],
    ids=",".join,
)
async def test_lists_and_counts_of_which_some_were_deleted_are_made_anew(
    ledger: Ledger, redis: Redis, lost: list[str]
) -> None:
    await ledger.open_replies("api")
    await ledger.register("gone", {}, 1)
    await submit(ledger, entry("suspect", client="c"))
    await claim(ledger, "gone")
    await ledger.apply_steps("gone", [Start("suspect")])
    await ledger.reap("gone")
    await ledger.register("w", {}, 2)
    await submit(ledger, *entries("a", 3), *entries("b", 3, client="b"), entry("kept", keep=True))
    held = await claim(ledger, "w", 2, 0, 2)
    assert not await ledger.mend()
    named = [key for pattern in lost for key in await redis.keys(f"test:{pattern}")]
    assert await redis.delete(*named) == len(named) > 0
    assert await ledger.mend()
    assert not await ledger.mend()

    left = {"suspect", *(f"{name}{number}" for name in "ab" for number in range(3)), "kept"}
    totals = await ledger.totals()
    assert (totals.count, totals.clients) == (len(left), 3)
    await ledger.apply_steps("w", [Finish(each.id, b"answer") for each in held])
    await ledger.register("v", {}, 8)
    while claims := await claim(ledger, "v"):
        assert await run(ledger, "v", claims) == []
    assert sorted(ids(await all_replies(ledger))) == sorted(left)
    await ledger.leave("v")
    await ledger.leave("w")
    assert await residue(redis) == []
    assert (await ledger.totals()).stats["mended"] == 1


async def test_a_submission_that_was_deleted_while_it_was_held_is_counted_no_more(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 2)
    await submit(ledger, entry("a"), entry("b"))
    held = await claim(ledger, "w")
    await redis.delete("test:sub:a")
    assert await run(ledger, "w", held) == ["a"]
    assert (await ledger.totals()).count == 1
    assert await ledger.mend()
    totals = await ledger.totals()
    assert (totals.count, totals.waiting, totals.bytes, totals.cost, totals.clients) == (0, 0, 0, 0.0, 0)


async def test_a_full_redis_refuses_what_is_new_and_finishes_what_it_has() -> None:
    with running_redis("--maxmemory", "8mb", "--maxmemory-policy", "noeviction") as server:
        redis = Redis.from_url(server.url)
        ledger = Ledger(redis, "test")
        await ledger.open_replies("api")
        await ledger.register("w", {}, 4)
        taken = await _fill(ledger)
        assert (await ledger.totals()).count == taken > 100
        assert (await ledger.look([f"a{taken}"]))[0].state == "gone"
        with pytest.raises(RedisError, match="maxmemory"):
            await ledger.put_suite("s", b"tests", 10)
        assert len((await ledger.beat("w", 0, 4))[1]) == 3
        done = 0
        while claims := await claim(ledger, "w"):
            assert await run(ledger, "w", claims, b"x" * 1000) == []
            done += len(claims)
        assert done == taken
        assert await submit(ledger, entry("new")) == ["new"]
        await redis.aclose()


async def _fill(ledger: Ledger) -> int:
    """Submits until Redis refuses; how many it took."""
    for number in range(10_000):
        try:
            await submit(ledger, entry(f"a{number}", bytes(10_000)))
        except RedisError as error:
            assert "maxmemory" in str(error)  # noqa: PT017 - it is the last of many that must fail
            return number
    raise AssertionError("Redis took all")


async def test_a_frozen_redis_raises_and_goes_on_where_it_was() -> None:
    with running_redis() as server:
        redis = Redis.from_url(server.url, socket_timeout=0.2, retry=None)
        ledger = Ledger(redis, "test")
        await ledger.register("w", {}, 4)
        assert await claim(ledger, "w") == []  # Redis knows the script now
        await submit(ledger, *entries("a", 8))
        server.stop()
        with pytest.raises(RedisError):
            await claim(ledger, "w", 5, 5, 4)
        server.cont()
        await _until(lambda: redis.scard("test:held:w"), 5)  # it was carried out after all, and nobody heard
        assert ids(await claim(ledger, "w", 5, 5, 4)) == ["a0", "a1", "a2", "a3", "a4"]
        assert ids(await claim(ledger, "w", 5, 5, 4)) == ["a5", "a6", "a7"]
        await redis.aclose()


async def _until(figure: Callable[[], Awaitable[int]], expected: int) -> None:
    async with asyncio.timeout(10):
        while await figure() != expected:
            await asyncio.sleep(0.01)


async def test_a_redis_that_was_killed_raises_and_is_usable_again() -> None:
    with running_redis("--appendonly", "yes", "--appendfsync", "always") as server:
        redis = Redis.from_url(server.url)
        ledger = Ledger(redis, "test")
        await ledger.register("w", {}, 4)
        await submit(ledger, *entries("a", 3))
        claims = await claim(ledger, "w", 2, 2, 0)
        server.kill()
        with pytest.raises(RedisError):
            await ledger.ping()
        with pytest.raises(RedisError):
            await ledger.submit([entry("b")], "api", ROOMY)
        server.restart()
        assert await run(ledger, "w", claims) == []
        assert ids(await claim(ledger, "w")) == ["a2"]
        await redis.aclose()


async def test_a_full_redis_that_lacks_the_functions_gives_answers_and_recovers() -> None:
    with running_redis() as server:
        redis = Redis.from_url(server.url)
        ledger = Ledger(redis, "test")
        await ledger.register("w", {}, 4)
        await ledger.open_replies("api")
        await submit(ledger, entry("a"), entry("b"))
        claims = await claim(ledger, "w", most=1)
        await redis.config_set("maxmemory", 1)
        await redis.function_flush()
        assert (await ledger.totals()).count == 2
        with pytest.raises(OutOfMemoryError):
            await submit(ledger, entry("c"))
        assert await run(ledger, "w", claims) == []
        assert await ledger.cancel(["b"], cancelled) == ["b"]
        assert sorted(ids(await all_replies(ledger))) == ["a", "b"]
        assert await redis.function_list() == []
        await redis.config_set("maxmemory", 0)
        assert await submit(ledger, entry("c")) == ["new"]
        assert len(await redis.function_list()) == 1
        await redis.aclose()
