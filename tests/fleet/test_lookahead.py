"""How many submissions a worker claims ahead, by the times of the last ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from sandbox_service.fleet.lookahead import AHEAD, LEAST_AHEAD, Lookahead
from sandbox_service.fleet.wakeup import CHUNK
from sandbox_service.slots.pool import SlotPool


def after(seconds: float, slots: int) -> Lookahead:
    found = Lookahead()
    for _ in range(100):
        found.learn(seconds)
    found.update(slots)
    return found


def test_before_the_first_submission_a_worker_claims_as_if_all_were_short() -> None:
    found = Lookahead()
    found.update(4)
    assert found.most_held == AHEAD * 4
    assert found.most_claims(4, 4, 0) == CHUNK


@pytest.mark.parametrize(("seconds", "held"), [(0.001, AHEAD * 4), (0.5, 4 + 4), (5.0, 4)])
def test_long_submissions_are_held_only_for_slots_that_begin_them_soon(seconds: float, held: int) -> None:
    assert after(seconds, 4).most_held == held


def test_one_slot_holds_some_short_submissions() -> None:
    assert after(0.001, 1).most_held == LEAST_AHEAD


@dataclass
class Pool:
    """The figures of a slot pool that decide about a claim."""

    ready: int
    busy: int
    held: int
    idle: int = 0
    begins: int = 0


@pytest.mark.parametrize(("held", "claims"), [(3, True), (4, True), (5, True), (6, True), (7, False), (8, False)])
def test_a_worker_claims_when_two_more_may_wait(held: int, *, claims: bool) -> None:
    found = after(0.5, 4)  # four more begin within half a second
    assert (found.request(cast("SlotPool", Pool(4, min(held, 4), held)), ()) is not None) == claims
    assert found.most_held == 8


@pytest.mark.parametrize(("held", "claims"), [(2, True), (3, False)])
def test_a_worker_claims_when_nothing_waits_where_one_may(held: int, *, claims: bool) -> None:
    found = after(0.9, 2)
    assert (found.request(cast("SlotPool", Pool(2, 2, held)), ()) is not None) == claims
    assert found.most_held == 3


def test_a_worker_claims_for_an_idle_slot_however_much_waits() -> None:
    assert after(0.5, 4).request(cast("SlotPool", Pool(4, 1, 7, idle=1)), ()) is not None


def test_a_claim_takes_at_least_one_and_as_many_as_slots_are_idle() -> None:
    assert after(60.0, 4).most_claims(4, 0, 4) == 1
    assert after(60.0, 4).most_claims(4, 3, 1) == 3


def test_a_worker_that_gave_claims_back_holds_what_its_slots_run_until_one_ends() -> None:
    found = after(0.001, 4)
    found.got_stuck()
    found.update(4)
    assert found.most_held == 4
    found.went_on()
    found.update(4)
    assert found.most_held > 4
