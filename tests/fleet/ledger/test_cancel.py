"""Release and cancellation, and processes that join while a cancellation is under way."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Drop, Finish, GiveBack, Start
from sandbox_service.fleet.ledger.ledger import Ledger
from tests.fleet.ledger.fleet import all_replies, cancelled, claim, entries, entry, ids, residue, submit

pytestmark = pytest.mark.anyio


async def beat(ledger: Ledger, worker: str = "w") -> list[str]:
    """The ids that the worker is told to cancel."""
    return (await ledger.beat(worker, 1, 4))[0]


@pytest.fixture
async def held(ledger: Ledger) -> Ledger:
    """A ledger whose worker w has started `a`, for which `api` waits."""
    await ledger.open_replies("api")
    await ledger.register("w", {}, 4)
    await submit(ledger, entry("a"))
    await claim(ledger, "w")
    await ledger.apply_steps("w", [Start("a")])
    return ledger


async def test_what_waits_is_struck_at_once(ledger: Ledger, redis: Redis) -> None:
    await submit(ledger, *entries("a", 3))
    await ledger.release("api", ["a0", "a1", "a2", "unknown"])
    assert (await ledger.totals()).stats == {"cancelled": 3}
    assert await residue(redis) == []


async def test_what_others_wait_for_or_keep_stays(ledger: Ledger) -> None:
    await submit(ledger, entry("shared"), entry("kept", keep=True), entry("kept later"))
    await submit(ledger, entry("shared"), entry("kept later", keep=True), api="other")
    await ledger.release("other", ["kept later"])
    await ledger.release("api", ["shared", "kept", "kept later"])
    assert [each.state for each in await ledger.look(["shared", "kept", "kept later"])] == ["pending"] * 3
    await ledger.release("other", ["shared"])
    assert (await ledger.look(["shared"]))[0].state == "gone"


async def test_the_holder_is_told_until_it_has_dropped_it(held: Ledger, redis: Redis) -> None:
    await held.release("api", ["a"])
    assert await beat(held) == await beat(held) == ["a"]
    assert await held.apply_steps("w", [Drop("a")]) == []
    assert await beat(held) == []
    assert await residue(redis) == []
    assert (await held.totals()).stats == {"cancelled": 1}


async def test_the_holder_may_have_finished_first(held: Ledger, redis: Redis) -> None:
    await held.release("api", ["a"])
    assert await held.apply_steps("w", [Finish("a", b"answer")]) == []
    assert await beat(held) == []
    assert (await held.look(["a"]))[0].answer == b"answer"
    assert await residue(redis) == []


async def test_what_is_given_back_but_cancelled_goes(held: Ledger, redis: Redis) -> None:
    await held.release("api", ["a"])
    await held.apply_steps("w", [GiveBack("a")])
    assert await residue(redis) == []


async def test_joining_withdraws_a_cancellation(held: Ledger) -> None:
    await held.release("api", ["a"])
    assert await submit(held, entry("a")) == ["joined"]
    assert await beat(held) == []
    await held.apply_steps("w", [Finish("a", b"answer")])
    assert ids(await all_replies(held)) == ["a"]


async def test_joining_after_the_holder_was_told_brings_it_back(held: Ledger) -> None:
    await held.release("api", ["a"])
    assert await beat(held) == ["a"]
    assert (await held.join("a", "api")).state == "pending"
    assert await held.apply_steps("w", [Drop("a")]) == []
    (again,) = await claim(held, "w")
    assert (again.id, again.attempts, again.alone) == ("a", 0, False)


async def test_cancelling_by_id_answers_all_who_wait(held: Ledger, redis: Redis) -> None:
    await held.open_replies("other")
    await submit(held, entry("a", keep=True), entry("b"), api="other")
    assert await held.cancel(["a", "b", "unknown", "a"], cancelled) == ["a", "b"]
    assert ids(await all_replies(held)) == ["a"]
    assert [each.answer for each in await all_replies(held, "other")] == [
        b"cancelled a, 3 tests",
        b"cancelled b, 3 tests",
    ]
    assert (await held.look(["a"]))[0].fault
    assert await beat(held) == ["a"]
    assert await held.apply_steps("w", [Finish("a", b"too late"), Drop("a")]) == ["a", "a"]
    assert await beat(held) == []
    assert await residue(redis) == []
    assert (await held.totals()).stats == {"cancelled": 2, "duplicates": 1}


async def test_what_was_cancelled_may_be_submitted_again(held: Ledger) -> None:
    await held.cancel(["a"], cancelled)
    await held.apply_steps("w", [Drop("a")])
    assert await submit(held, entry("a", b"another body")) == ["new"]


async def test_many_are_cancelled(ledger: Ledger, redis: Redis) -> None:
    batch = entries("a", 1000)
    await submit(ledger, *batch)
    assert await ledger.cancel(ids(batch), cancelled) == ids(batch)
    assert await residue(redis) == []


async def test_labels_find_what_is_pending(ledger: Ledger) -> None:
    await submit(ledger, *entries("a", 700, labels={"run": "7", "step": "1"}, client="/anna"))
    await submit(ledger, *entries("b", 700, labels={"run": "8"}), entry("c"))
    await submit(ledger, *entries("k/d", 3, labels={"run": "7"}, client="k/anna"))
    assert sorted(await ledger.pending_labelled("run", "7")) == sorted(ids(entries("a", 700)))
    assert sorted(await ledger.pending_labelled("run", "7", ["k", "l"])) == ids(entries("k/d", 3))
    assert await ledger.pending_labelled("step", "2") == []


async def test_join_finds_answered_pending_and_gone(held: Ledger) -> None:
    await held.open_replies("other")
    assert (await held.join("b", "other")).state == "gone"
    assert (await held.join("a", "other")).state == "pending"
    await held.apply_steps("w", [Finish("a", b"answer")])
    assert ids(await all_replies(held, "other")) == ["a"]
    found = await held.join("a", "other")
    assert (found.state, found.answer, found.fault) == ("answered", b"answer", False)
