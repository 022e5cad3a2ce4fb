"""The policy of retries is complete, and no kind is retried by two components."""

from __future__ import annotations

from inspect import signature
from itertools import chain

from sandbox_service.fleet.ledger.calls import LedgerCalls
from sandbox_service.grading.retries import FINAL, MOST_ATTEMPTS, POOL, QUEUE, ROUTES, may_start_again
from sandbox_service.schema import FailureKind

PARTS = (POOL, QUEUE, ROUTES, FINAL)


def test_every_kind_is_retried_by_one_component_or_final() -> None:
    assert sorted(chain.from_iterable(PARTS)) == sorted(FailureKind)


def test_the_pool_starts_a_submission_three_times_at_most() -> None:
    for kind in (*FailureKind, "a kind of a newer version", None):
        starts = [attempts for attempts in range(10) if may_start_again(kind, attempts)]
        assert starts == (list(range(MOST_ATTEMPTS)) if kind in POOL else [])


def test_the_ledger_counts_as_many_lost_workers() -> None:
    most = signature(LedgerCalls).parameters["most_attempts"].default
    assert most == MOST_ATTEMPTS == 3
