"""One call that reports steps, beats and claims: what goes along, and what a claim notes and brings."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Beat, ClaimRequest, Finish, Start, UnknownWorkerError
from sandbox_service.fleet.ledger.ledger import Ledger
from tests.fleet.ledger.fleet import all_replies, entries, entry, ids, residue, submit

pytestmark = pytest.mark.anyio

LARGE = b"x" * 20_000


async def with_work(ledger: Ledger, count: int) -> None:
    """A worker of two slots, and so many submissions."""
    await ledger.register("w", {}, 2)
    await ledger.open_replies("api")
    await submit(ledger, *entries("a", count))


async def test_steps_a_claim_and_a_beat_go_together(ledger: Ledger, redis: Redis) -> None:
    await with_work(ledger, 3)
    first = await ledger.exchange("w", claim=ClaimRequest(1, 1, 2))
    found = await ledger.exchange("w", [Start("a0"), Finish("a0", b"answer")], ClaimRequest(1, 1, 2), Beat(1, 2, 1))
    assert (ids(first.claims), ids(found.claims)) == (["a0"], ["a1"])
    assert (found.need, found.held, found.cancelled) == ((1, 1, 2), 1, [])
    assert ids(await all_replies(ledger)) == ["a0"]
    assert (await ledger.beats()) == {"w": 2}
    await ledger.exchange("w", [Finish("a1", b"answer")], ClaimRequest(1, 1, 2))
    await ledger.exchange("w", [Finish("a2", b"answer")], beat=Beat(0, 2, 2))
    assert await residue(redis) == []


async def test_the_slots_for_which_it_claims_are_not_idle(ledger: Ledger) -> None:
    await with_work(ledger, 1)
    found = await ledger.exchange("w", claim=ClaimRequest(2, 2, 2), beat=Beat(0, 2, 2))
    assert found.others.idle == 1
    found = await ledger.exchange("w", [Finish("a0", b"answer")], beat=Beat(0, 2, 2))
    assert found.others.idle == 2


async def test_a_claim_notes_the_start_of_what_begins(ledger: Ledger) -> None:
    await with_work(ledger, 3)
    found = await ledger.exchange("w", claim=ClaimRequest(3, 3, 2, begins=2))
    assert [claim.begun for claim in found.claims] == [True, True, False]
    await ledger.reap("w")
    await ledger.register("v", {}, 4)
    assert ids((await ledger.claim("v", 4, 0, 4, least=4))[0]) == ["a2"]  # the other two are suspects
    suspect = (await ledger.exchange("v", claim=ClaimRequest(4, 4, 4, begins=4))).claims
    assert [(claim.alone, claim.begun) for claim in suspect] == [(True, False)]


async def test_what_was_noted_as_started_is_given_again_if_the_reply_was_lost(ledger: Ledger, redis: Redis) -> None:
    await with_work(ledger, 2)
    await Ledger(redis, "test").exchange("w", claim=ClaimRequest(1, 1, 2, begins=1))
    assert ids((await ledger.exchange("w", claim=ClaimRequest(1, 1, 2, begins=1))).claims) == ["a0"]
    assert ids((await ledger.exchange("w", claim=ClaimRequest(1, 1, 2, begins=1))).claims) == ["a1"]


async def test_a_claim_brings_the_small_suites_that_the_worker_does_not_have(ledger: Ledger) -> None:
    await ledger.register("w", {}, 2)
    for name, body in (("known", b"1"), ("small", b"2"), ("large", LARGE)):
        await ledger.put_suite(name, body, 60)
    await submit(ledger, *(entry(name, suite=name) for name in ("known", "small", "large", "gone")))
    found = await ledger.exchange("w", claim=ClaimRequest(4, 4, 2, suites=("known", "other")))
    assert len(found.claims) == 4
    assert found.suites == {"small": b"2"}


async def test_many_claims_bring_no_suites(ledger: Ledger) -> None:
    await ledger.register("w", {}, 8)
    await ledger.put_suite("suite", b"1", 60)
    await submit(ledger, *entries("a", 8))
    assert (await ledger.exchange("w", claim=ClaimRequest(8, 8, 8))).suites == {}


async def test_the_steps_of_an_unknown_worker_are_refused(ledger: Ledger) -> None:
    await with_work(ledger, 1)
    await ledger.claim("w", 1, 1, 2)
    await ledger.reap("w")
    with pytest.raises(UnknownWorkerError):
        await ledger.exchange("w", [Finish("a0", b"late")], beat=Beat(0, 2, 2))
    assert await all_replies(ledger) == []
