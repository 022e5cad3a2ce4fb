"""Submit: new, joined, answered, cached and refused entries."""

from __future__ import annotations

import math

import pytest
from redis.asyncio import Redis

from sandbox_service.bounds import Bounds
from sandbox_service.errors import IdReusedError, QueueFullError
from sandbox_service.fleet.ledger.entries import Finish, Found, Start, Taken
from sandbox_service.fleet.ledger.ledger import Ledger
from tests.fleet.ledger.fleet import ROOMY, all_replies, claim, entries, entry, ids, residue, run, submit

pytestmark = pytest.mark.anyio


async def test_a_submission_is_new_then_joined_then_answered(ledger: Ledger) -> None:
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    assert await submit(ledger, entry("a")) == ["new"]
    assert await submit(ledger, entry("a")) == ["joined"]
    claims = await claim(ledger, "w")
    assert await submit(ledger, entry("a")) == ["joined"]
    assert await run(ledger, "w", claims) == []
    assert (await ledger.submit([entry("a")], "api", ROOMY))[0] == [Taken("answered", b"answer")]
    assert [(each.id, each.answer) for each in await all_replies(ledger)] == [("a", b"answer")]


async def test_all_that_was_submitted_arrives_at_the_worker(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    sent = entry("a", b"\0\xff body", suite="s1", cost=1.25, tests=7, graders="key", priority=0, labels={"run": "é"})
    await submit(ledger, sent)
    (got,) = await claim(ledger, "w")
    assert (got.id, got.body, got.terms) == ("a", b"\0\xff body", sent.terms)
    assert (got.attempts, got.alone) == (0, False)
    assert 0 <= got.now - got.taken < 5


async def test_every_api_process_that_joined_is_answered_once(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    for api in ("one", "two"):
        await ledger.open_replies(api)
        await submit(ledger, entry("a"), api=api)
        await submit(ledger, entry("a"), api=api)
    await run(ledger, "w", await claim(ledger, "w"))
    assert ids(await all_replies(ledger, "one")) == ids(await all_replies(ledger, "two")) == ["a"]


@pytest.mark.parametrize("stage", ["waiting", "held", "answered"])
async def test_an_id_with_another_body_is_refused_and_nothing_of_the_batch_is_taken(ledger: Ledger, stage: str) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    if stage != "waiting":
        claims = await claim(ledger, "w")
        if stage == "answered":
            await run(ledger, "w", claims)
    before = (await ledger.totals()).count
    with pytest.raises(IdReusedError, match="'a' was used with another body"):
        await submit(ledger, entry("b"), entry("a", b"print(2)"))
    assert (await ledger.totals()).count == before


async def test_after_a_fault_the_same_id_is_taken_anew(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Start("a"), Finish("a", b"our fault", fault=True)])
    assert (await ledger.look(["a"]))[0].fault
    assert await submit(ledger, entry("a", b"another body")) == ["new"]
    assert (await ledger.look(["a"]))[0].state == "pending"


async def test_equal_work_is_answered_from_the_cache_and_then_known_by_its_own_id(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", graders="key"), entry("b", graders="other"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Finish("a", b"answer", cacheable=True), Finish("b", b"not to be shared")])
    taken, _ = await ledger.submit([entry("c", graders="key"), entry("d", graders="other")], "api", ROOMY)
    assert taken == [Taken("cached", b"answer"), Taken("new")]
    assert await submit(ledger, entry("e", graders="key", keep=True)) == ["cached"]
    assert await submit(ledger, entry("c", graders="key")) == ["cached"]  # as before, and so not counted
    assert (await ledger.totals()).stats == {"cached": 2}
    digest = entry("a").digest
    assert await ledger.look(["a", "c"]) == [
        Found("answered", b"answer", cached=False, digest=digest),
        Found("answered", b"answer", cached=True, digest=digest),
    ]
    with pytest.raises(IdReusedError):
        await submit(ledger, entry("c", b"another body"))


async def test_a_cache_of_no_seconds_is_none(redis: Redis) -> None:
    ledger = Ledger(redis, "test", cache_seconds=0)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", graders="key"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Finish("a", b"answer", cacheable=True)])
    assert await submit(ledger, entry("b", graders="key")) == ["new"]


async def test_ledgers_of_different_names_do_not_know_each_other(redis: Redis) -> None:
    assert await submit(Ledger(redis, "one"), entry("a")) == ["new"]
    assert await submit(Ledger(redis, "two"), entry("a", b"another")) == ["new"]


# --- bounds


@pytest.mark.parametrize(
    ("bounds", "figure"),
    [
        (Bounds(4, 10**9, 1e9), r"^4 submissions of this client .* 1 submissions more"),
        (Bounds(10**9, 32, 1e9), r"^32 bytes of this client .* 8 bytes more"),
        (Bounds(10**9, 10**9, 2.0), r"^2.0 CPU seconds of this client .* 0.5 CPU seconds more"),
    ],
)
async def test_each_bound_holds_and_is_named(ledger: Ledger, bounds: Bounds, figure: str) -> None:
    await submit(ledger, *entries("a", 4), bounds=bounds)  # 8 bytes and half a second each
    with pytest.raises(QueueFullError, match=figure) as refusal:
        await submit(ledger, entry("b"), bounds=bounds)
    assert refusal.value.retry_after_seconds == pytest.approx(2.0)  # two seconds of work, no slot at all
    assert await submit(ledger, *entries("a", 4), bounds=bounds) == ["joined"] * 4


async def test_clients_share_the_bounds_equally(ledger: Ledger) -> None:
    bounds = Bounds(100, 10**9, 1e9)
    await submit(ledger, *entries("a", 60), bounds=bounds)
    with pytest.raises(QueueFullError):
        await submit(ledger, *entries("b", 51, client="bert"), bounds=bounds)
    await submit(ledger, *entries("b", 50, client="bert"), bounds=bounds)
    with pytest.raises(QueueFullError, match=r"60 submissions .* share, 50 submissions .* 2 clients"):
        await submit(ledger, entry("one more"), bounds=bounds)


async def test_one_who_has_nothing_pending_may_have_one_however_large(ledger: Ledger) -> None:
    tiny = Bounds(2, 1000, 60.0)
    assert await submit(ledger, entry("a", b"x" * 1500, cost=99.0), bounds=tiny) == ["new"]
    assert await submit(ledger, entry("b", b"x" * 1500, cost=99.0, client="bert"), bounds=tiny) == ["new"]
    with pytest.raises(QueueFullError) as refusal:
        await submit(ledger, entry("c", client="bert"), bounds=tiny)
    assert refusal.value.retry_after_seconds == 60.0


@pytest.mark.parametrize(
    ("bounds", "figure"),
    [
        (Bounds(5, 10**9, 1e9), "10 submissions of others are waiting, and all together may have 10 submissions"),
        (Bounds(10**9, 40, 1e9), "80 bytes of others"),
        (Bounds(10**9, 10**9, 2.5), "5.0 CPU seconds of others"),
    ],
)
async def test_new_names_do_not_help_when_all_together_have_twice_the_bounds(
    ledger: Ledger, bounds: Bounds, figure: str
) -> None:
    for number in range(10):
        await submit(ledger, entry(f"a{number}", client=f"client {number}"), bounds=bounds)
    for client in ("another", "and another"):
        with pytest.raises(QueueFullError, match=figure):
            await submit(ledger, entry("b", client=client), bounds=bounds)
    assert await submit(ledger, entry("a0", client="another"), bounds=bounds) == ["joined"]
    await ledger.release("api", ["a1"])
    assert await submit(ledger, entry("b", client="another"), bounds=bounds) == ["new"]


async def test_what_came_with_a_submission_is_counted_until_it_is_done(ledger: Ledger, redis: Redis) -> None:
    bounds = Bounds(10, 100, 1e9)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", own_bytes=80), bounds=bounds)
    assert (await ledger.totals()).bytes == 88
    with pytest.raises(QueueFullError, match=r"88 bytes of this client .* 18 bytes more"):
        await submit(ledger, entry("b", own_bytes=10), bounds=bounds)
    await run(ledger, "w", await claim(ledger, "w"))
    assert (await ledger.totals()).bytes == 0
    assert await residue(redis) == []


async def test_retry_after_knows_the_slots(ledger: Ledger) -> None:
    await ledger.register("w", {}, 10)
    await submit(ledger, *entries("a", 100))
    with pytest.raises(QueueFullError) as refusal:
        await submit(ledger, entry("b"), bounds=Bounds(1, 10**9, 1e9))
    assert refusal.value.retry_after_seconds == pytest.approx(5.0)


async def test_a_large_batch_is_taken_in_order(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 1300))
    assert await submit(ledger, *entries("a", 1300)) == ["joined"] * 1300
    seen: list[str] = []
    while claims := await claim(ledger, "w"):
        seen += ids(claims)
    assert seen == [f"a{number}" for number in range(1300)]


async def test_a_large_batch_is_refused_by_its_total_at_once(ledger: Ledger, redis: Redis) -> None:
    with pytest.raises(QueueFullError, match="1300 submissions more"):
        await submit(ledger, *entries("a", 1300), bounds=Bounds(1299, 10**9, 1e9))
    assert await residue(redis) == []


@pytest.mark.parametrize("keep", [False, True])
async def test_a_large_batch_that_fails_late_leaves_nothing(ledger: Ledger, redis: Redis, keep: bool) -> None:
    await submit(ledger, entry("used"), entry("a7"), api="other")
    with pytest.raises(IdReusedError):
        await submit(ledger, *entries("a", 1300, keep=keep), entry("used", b"another"))
    assert (await ledger.totals()).count == 2
    await ledger.release("other", ["used"])
    assert await redis.hget("test:sub:a7", "apis") == b"other"


async def test_a_batch_that_fails_late_leaves_alone_what_others_keep(ledger: Ledger) -> None:
    await submit(ledger, entry("used"), entry("a7", keep=True), api="")
    with pytest.raises(IdReusedError):
        await submit(ledger, *entries("a", 600), entry("used", b"another"))
    assert (await ledger.totals()).count == 2


async def test_repeating_what_is_pending_needs_no_room(ledger: Ledger) -> None:
    bounds = Bounds(1300, 10**9, 1e9)
    await submit(ledger, *entries("a", 1300), bounds=bounds)
    assert await submit(ledger, *entries("a", 1300), bounds=bounds) == ["joined"] * 1300


# --- figures


async def test_totals_are_exact_whatever_the_costs(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *(entry(f"a{number}", b"x" * number, cost=0.1) for number in range(1, 101)))
    await submit(ledger, entry("b", client="bert", cost=math.pi))
    totals = await ledger.totals()
    assert (totals.count, totals.waiting, totals.bytes, totals.clients) == (101, 101, 5058, 2)
    assert totals.cost == pytest.approx(10.0 + math.pi, abs=1e-6)
    assert 0 <= totals.oldest_seconds < 60
    while claims := await claim(ledger, "w"):
        await run(ledger, "w", claims)
    totals = await ledger.totals()
    assert (totals.count, totals.waiting, totals.bytes, totals.cost, totals.clients) == (0, 0, 0, 0.0, 0)
    assert await residue(redis) == []


async def test_nothing_is_a_figure_too(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", b"", cost=0.0, tests=0, suite="", client=""))
    await run(ledger, "w", await claim(ledger, "w"), b"")
    assert (await ledger.look(["a"]))[0].answer == b""
    assert await residue(redis) == []


async def test_need_counts_work_workers_and_slots(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 8)
    await ledger.register("w", {}, 6)
    _, need = await ledger.submit(entries("a", 20), "api", ROOMY)
    assert need == (20, 2, 10)
    _, need = await ledger.claim("w", 5, 5, 6)
    assert need == (15, 2, 10)
    await ledger.leave("v")
    assert (await ledger.beat("w", 5, 1))[1] == (15, 1, 6)
