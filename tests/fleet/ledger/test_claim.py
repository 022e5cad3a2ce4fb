"""Claims: how many a worker gets, in which order, and again after a lost reply."""

from __future__ import annotations

from collections import Counter

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Finish, GiveBack, Start, UnknownWorkerError
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.ledger.workers import NO_BEAT
from tests.fleet.ledger.fleet import cancelled, claim, entries, entry, ids, residue, run, submit

pytestmark = pytest.mark.anyio


async def test_an_unknown_worker_gets_nothing(ledger: Ledger) -> None:
    await submit(ledger, entry("a"))
    with pytest.raises(UnknownWorkerError):
        await claim(ledger, "w")


@pytest.mark.parametrize(
    ("most", "idle", "slots", "expected"),
    [
        (16, 3, 4, 10),  # 100 wait: a share of half of that, 4 of 20 slots: 10
        (16, 12, 4, 12),  # more slots are idle
        (16, 0, 4, 10),  # none is, but there is work for the next moment
        (7, 12, 4, 7),
        (99, 12, 20, 50),  # and to one who has all slots, half of what waits
        (0, 4, 4, 0),
    ],
)
async def test_how_many(ledger: Ledger, most: int, idle: int, slots: int, expected: int) -> None:
    await ledger.register("w", {}, slots)
    await ledger.register("others", {}, 20 - slots)
    await submit(ledger, *entries("a", 100))
    assert len(await claim(ledger, "w", most, idle, slots)) == expected


async def test_what_is_held_is_given_to_nobody_else(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 3))
    assert ids(await claim(ledger, "v")) == ["a0", "a1", "a2"]
    assert await claim(ledger, "w") == []


async def test_priorities_are_strict(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    for priority in (2, 1, 0):
        await submit(ledger, *entries(f"p{priority}-", 2, priority=priority))
    assert ids(await claim(ledger, "w")) == ["p0-0", "p0-1", "p1-0", "p1-1", "p2-0", "p2-1"]


@pytest.mark.parametrize("most", [1, 16])
async def test_a_small_client_is_not_kept_waiting_by_a_large_one(ledger: Ledger, most: int) -> None:
    await ledger.register("w", {}, 16)
    await submit(ledger, *entries("a", 1000))
    await submit(ledger, entry("b", client="bert"))
    first_two = [*await claim(ledger, "w", most), *await claim(ledger, "w", most)]
    assert "b" in ids(first_two)


async def test_clients_take_turns(ledger: Ledger) -> None:
    await ledger.register("w", {}, 1)
    for client in ("anna", "bert", "cora"):
        await submit(ledger, *entries(client, 40, client=client))
    counts = Counter(id_.rstrip("0123456789") for id_ in ids(await claim(ledger, "w", 10, 10)))
    assert set(counts.values()) == {3, 4}
    for _ in range(5):
        counts.update(id_.rstrip("0123456789") for id_ in ids(await claim(ledger, "w", 10, 10)))
    assert counts == {"anna": 20, "bert": 20, "cora": 20}


async def test_what_was_cancelled_is_skipped(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 10_000))
    await ledger.release("api", [f"a{number}" for number in range(1, 9_999)])  # in the middle of the list: tombstones
    assert await redis.llen("test:ready:1:anna") >= 2
    assert ids(await claim(ledger, "w")) + ids(await claim(ledger, "w")) == ["a0", "a9999"]
    await ledger.apply_steps("w", [Finish("a0", b""), Finish("a9999", b"")])
    assert await residue(redis) == []


async def test_one_who_submits_and_cancels_leaves_nothing_behind(ledger: Ledger, redis: Redis) -> None:
    for turn in range(20):
        batch = entries(f"{turn}-", 100)
        await submit(ledger, *batch)
        await ledger.release("api", ids(batch)[::-1] if turn % 2 else ids(batch))
    assert await residue(redis) == []


async def test_an_id_that_was_cancelled_and_submitted_again_is_given_once(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("first"), entry("a"), entry("last"))
    await ledger.release("api", ["a"])
    await submit(ledger, entry("a"))
    assert sorted(ids(await claim(ledger, "w"))) == ["a", "first", "last"]
    assert await claim(ledger, "w") == []


async def test_claims_whose_reply_was_lost_are_made_again(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 8))
    await _claim_without_hearing(ledger)
    again = await claim(ledger, "w", 3, 3)
    assert ids(again) == ["a0", "a1", "a2", "a3", "a4"]
    assert ids(await claim(ledger, "w")) == ["a5", "a6", "a7"]
    await run(ledger, "w", again)
    assert (await ledger.totals()).count == 3
    assert (await ledger.totals()).waiting == 0


async def _claim_without_hearing(ledger: Ledger) -> None:
    """As if the connection had been lost between the script and its reply."""
    await ledger._functions.run("exchange", ["w", 5, *NO_BEAT, 5, 4, 1 << 20, "a turn", "", 2, 0, 0, 0])


async def test_lost_claims_that_were_cancelled_meanwhile_do_not_come_again(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 8))
    await _claim_without_hearing(ledger)
    await ledger.cancel(["a0", "a1", "a2", "a3", "a4"], cancelled)
    assert ids(await claim(ledger, "w")) == ["a5", "a6", "a7"]


async def test_what_is_given_back_comes_first_and_without_blame(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, *entries("a", 4))
    await claim(ledger, "w", 2, 2, 0)
    await ledger.apply_steps("w", [Start("a0"), GiveBack("a1"), GiveBack("a0")])
    again = await claim(ledger, "w")
    assert ids(again) == ["a0", "a1", "a2", "a3"]
    assert {(each.attempts, each.alone) for each in again} == {(0, False)}


async def test_giving_back_the_last_one_brings_the_client_back_into_the_ring(ledger: Ledger) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    for _ in range(3):
        assert ids(await claim(ledger, "w")) == ["a"]
        await ledger.apply_steps("w", [GiveBack("a")])


async def test_the_answer_to_another_body_is_refused(ledger: Ledger, redis: Redis) -> None:
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", b"old"))
    await claim(ledger, "w")
    await redis.flushall()
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", b"new"))
    await _claim_without_hearing(ledger)
    assert await ledger.apply_steps("w", [Finish("a", b"answer to old")]) == ["a"]
    assert [each.body for each in await claim(ledger, "w")] == [b"new"]


async def test_a_new_life_of_an_id_is_not_given_to_the_worker_that_has_the_old_one(ledger: Ledger) -> None:
    await ledger.register("v", {}, 4)
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a", b"old"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Start("a")])
    await ledger.cancel(["a"], cancelled)
    await submit(ledger, entry("a", b"new"), entry("b"))
    assert ids(await claim(ledger, "w")) == ["b"]
    assert await ledger.apply_steps("w", [Finish("a", b"answer to old")]) == ["a"]
    assert [each.body for each in await claim(ledger, "w")] == [b"new"]
    assert await ledger.apply_steps("w", [Finish("a", b"answer to new")]) == []
    assert (await ledger.look(["a"]))[0].answer == b"answer to new"
