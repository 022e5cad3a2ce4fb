"""Workers that register, leave and die, and submissions that end workers."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Finish, Lost, Start, Step, UnknownWorkerError, WorkerState
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.ledger.workers import REAPER
from tests.fleet.ledger.fleet import all_replies, cancelled, claim, entries, entry, ids, keys, residue, run, submit

pytestmark = pytest.mark.anyio


async def test_a_worker_is_seen_while_it_is_registered(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {"host": "here", "cpus": [0, 1]}, 4)
    await submit(ledger, entry("a"))
    await claim(ledger, "w")
    await ledger.beat("w", 1, 3)
    info: dict[str, object] = {"host": "here", "cpus": [0, 1]}
    assert await ledger.workers() == {"w": WorkerState(info, slots=4, busy=1, ready_slots=3)}
    await ledger.leave("w")
    assert await ledger.workers() == {}
    assert not [key for key in await keys(redis) if "worker" in key or "slots" in key]


async def test_only_the_registered_may_beat_and_nobody_may_be_called_reaper(ledger: Ledger) -> None:
    with pytest.raises(UnknownWorkerError, match="'w'"):
        await ledger.beat("w", 0, 0)
    with pytest.raises(ValueError, match="reaper"):
        await ledger.register(REAPER, {}, 1)


async def test_who_leaves_gives_everything_back_without_blame(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 4))
    await claim(ledger, "v")
    await ledger.apply_steps("v", [Start("a0")])
    await ledger.leave("v")
    await ledger.leave("v")
    claims = await claim(ledger, "w")
    assert sorted(ids(claims)) == ["a0", "a1", "a2", "a3"]
    assert {each.attempts for each in claims} == {0}


async def test_what_a_dead_worker_had_not_started_goes_home_in_order(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    for number in range(4):
        await submit(ledger, entry(f"a{number}"))
    await claim(ledger, "v", 3, 3, 0)
    assert await ledger.reap("v") == await ledger.reap("v") == []
    claims = await claim(ledger, "w")
    assert ids(claims) == ["a0", "a1", "a2", "a3"]
    assert {(each.attempts, each.alone) for each in claims} == {(0, False)}
    assert (await ledger.totals()).stats == {"reaped": 1, "requeued": 3}
    with pytest.raises(UnknownWorkerError):
        await ledger.beat("v", 0, 0)


async def test_a_suspect_runs_alone(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 6))
    await claim(ledger, "v", 4, 4, 0)
    await ledger.apply_steps("v", [Start("a1"), Start("a2")])
    await ledger.reap("v")
    (without_idle_slot,) = await claim(ledger, "w", 1, 0, 8)
    assert not without_idle_slot.alone
    suspects = [await claim(ledger, "w"), await claim(ledger, "w")]
    assert sorted(ids(suspects[0]) + ids(suspects[1])) == ["a1", "a2"]
    assert {(each.attempts, each.alone) for claims in suspects for each in claims} == {(1, True)}
    rest = ids(await claim(ledger, "w"))
    assert sorted([without_idle_slot.id, *rest]) == ["a0", "a3", "a4", "a5"]


async def test_three_strikes_and_the_neighbours_are_not_blamed(ledger: Ledger, redis: Redis) -> None:
    await ledger.open_replies("api")
    await submit(ledger, entry("poison", tests=9), *entries("a", 3))
    for strike in range(3):
        await ledger.register(f"w{strike}", {}, 4)
        claims = await claim(ledger, f"w{strike}")
        poison = next(each for each in claims if each.id == "poison")
        assert (poison.attempts, poison.alone) == (strike, strike > 0)
        assert strike == 0 or ids(claims) == ["poison"]
        await ledger.apply_steps(f"w{strike}", [Start("poison")])
        lost = await ledger.reap(f"w{strike}")
    assert lost == await ledger.reap(REAPER) == [Lost("poison", 9, 3)]
    assert await ledger.reap("w2") == []
    await ledger.register("last", {}, 4)
    neighbours = await claim(ledger, "last")
    assert sorted((each.id, each.attempts) for each in neighbours) == [("a0", 0), ("a1", 0), ("a2", 0)]
    await ledger.finish_lost({"poison": b"it ended three workers"})
    await run(ledger, "last", neighbours)
    assert (await all_replies(ledger))[0][1:] == ("poison", b"it ended three workers")
    assert (await ledger.look(["poison"]))[0].fault
    assert (await ledger.totals()).stats == {"reaped": 3, "requeued": 4 + 1, "lost": 1}
    assert await ledger.reap(REAPER) == []
    assert await residue(redis) == []


async def test_what_is_never_seen_to_start_is_a_suspect_in_the_end(ledger: Ledger) -> None:
    """It may be what ended its workers, faster than they could say that they began it."""
    await submit(ledger, entry("a"))
    seen = []
    for number in range(5):
        await ledger.register(f"w{number}", {}, 4)
        [held] = await claim(ledger, f"w{number}")
        seen.append((held.attempts, held.alone))
        lost = await ledger.reap(f"w{number}")
    assert seen == [(0, False), (0, False), (0, False), (1, True), (2, True)]
    assert lost == [Lost("a", 3, 3)]


async def test_starting_twice_is_one_attempt(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    await claim(ledger, "v")
    await ledger.apply_steps("v", [Start("a"), Start("a")])
    await ledger.reap("v")
    assert [each.attempts for each in await claim(ledger, "w")] == [1]


async def test_a_suspect_that_is_given_back_stays_one(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b"))
    await claim(ledger, "v")
    await ledger.apply_steps("v", [Start("a")])
    await ledger.reap("v")
    assert [each.attempts for each in await claim(ledger, "w")] == [1]
    await ledger.apply_steps("w", [Start("a")])
    await ledger.leave("w")
    await ledger.register("x", {}, 4)
    assert [(each.id, each.attempts, each.alone) for each in await claim(ledger, "x")] == [("a", 1, True)]
    assert ids(await claim(ledger, "x")) == ["b"]


async def test_a_suspect_with_a_tombstone_from_an_earlier_life_is_not_given_beside_others(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("first"), entry("a"), entry("b"))
    await ledger.release("api", ["a"])
    await submit(ledger, entry("a"))
    await claim(ledger, "v", 2, 2, 0)  # first, and the a of the older entry in the list
    await ledger.apply_steps("v", [Start("a")])
    await ledger.reap("v")
    assert ids(await claim(ledger, "w", 16, 0, 400)) == ["first", "b"]
    assert [(each.id, each.alone) for each in await claim(ledger, "w")] == [("a", True)]


async def test_what_was_cancelled_dies_with_its_worker(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Start("a")])
    await ledger.release("api", ["a", "b"])
    assert await ledger.reap("w") == []
    assert await residue(redis) == []
    assert (await ledger.totals()).stats == {"cancelled": 2, "reaped": 1}


async def test_what_is_lost_may_be_released_or_cancelled_before_it_is_answered(redis: Redis) -> None:
    ledger = Ledger(redis, "test", most_attempts=1)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Start("a"), Start("b")])
    assert sorted(each.id for each in await ledger.reap("w")) == ["a", "b"]
    await ledger.release("api", ["a"])
    assert await ledger.cancel(["b"], cancelled) == ["b"]
    assert "test:cancel:reaper" not in await keys(redis)
    assert [each.id for each in await ledger.reap(REAPER)] == ["a"]
    await ledger.finish_lost({"a": b"lost", "b": b"lost"})
    assert await residue(redis) == []


async def test_a_frozen_worker_that_settles_late_is_refused(ledger: Ledger) -> None:
    await ledger.open_replies("api")
    await ledger.register("frozen", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"), entry("b"))
    await claim(ledger, "frozen")
    await ledger.apply_steps("frozen", [Start("a")])
    await ledger.reap("frozen")
    claims = [*await claim(ledger, "w"), *await claim(ledger, "w")]
    late: list[Step] = [Start("b"), Finish("b", b"late"), Finish("a", b"late")]
    assert await ledger.apply_steps("frozen", late) == ["b", "a"]
    assert await run(ledger, "w", claims) == []
    assert sorted((each.id, each.answer) for each in await all_replies(ledger)) == [("a", b"answer"), ("b", b"answer")]
    assert await ledger.apply_steps("frozen", [Finish("a", b"later still")]) == ["a"]
    assert (await ledger.look(["a"]))[0].answer == b"answer"
    assert (await ledger.totals()).stats["duplicates"] == 3


async def test_one_leads_until_its_time_is_over(ledger: Ledger) -> None:
    assert await ledger.lead("one", 60.0)
    assert not await ledger.lead("two", 60.0)
    assert await ledger.lead("one", 0.05)
    while not await ledger.lead("two", 60.0):
        pass
    assert not await ledger.lead("one", 60.0)


@pytest.mark.parametrize("left", [3_600_000, None])
async def test_who_leads_for_longer_than_anyone_may_does_not(ledger: Ledger, redis: Redis, left: int | None) -> None:
    await redis.set("test:lead", "gone", px=left)  # as it is when the clock was set back by an hour
    assert await ledger.lead("one", 2.0)
    assert not await ledger.lead("two", 2.0)
    assert 0 < await redis.pttl("test:lead") <= 2000
