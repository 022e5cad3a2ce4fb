"""Tests of the limit on samples without a verdict, statistically and over HTTP."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from tests.fake_service import FAULT, PASSED, FakeService, answers
from tests.ports import free_port
from tests.trainer.fake_service import completion, configured, grading, prompt, run
from trainer.episode import Reward
from trainer.errors import TooManyFaultsError
from trainer.reward import FaultGauge

pytestmark = pytest.mark.usefixtures("quick")


def gauged(gauge: FaultGauge, faults: Iterable[bool]) -> int:
    """How many were counted before it ended the run; -1 if it did not."""
    for place, is_fault in enumerate(faults, 1):
        try:
            gauge.count("sandbox: died" if is_fault else None)
        except TooManyFaultsError:
            return place
    return -1


def every(period: int, count: int = 20_000) -> list[bool]:
    return [place % period == 0 for place in range(1, count + 1)]


def test_two_per_cent_end_a_run_and_half_a_per_cent_does_not() -> None:
    assert 0 < gauged(FaultGauge(0.01), every(50)) <= 1000
    assert gauged(FaultGauge(0.01), every(200)) == -1


def test_by_chance_two_per_cent_end_a_run_soon_and_half_a_per_cent_does_not() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        assert 0 < gauged(FaultGauge(0.01), [chance.random() < 0.02 for _ in range(20_000)]) < 10_000
        assert gauged(FaultGauge(0.01), [chance.random() < 0.005 for _ in range(20_000)]) == -1


def test_a_service_that_only_fails_ends_a_run_at_once() -> None:
    assert gauged(FaultGauge(0.01), [True] * 100) == 7
    assert gauged(FaultGauge(0.0), [False] * 50 + [True]) == 51
    assert gauged(FaultGauge(1.0), [True] * 2000) == -1


def test_what_was_long_ago_is_forgotten() -> None:
    assert gauged(FaultGauge(0.01), ([True] * 6 + [False] * 1000) * 20) == -1


def grade_many(period: int) -> list[Reward]:
    """1100 samples, of which the service fails at every so many."""

    async def work() -> list[Reward]:
        fake = FakeService(acts=[answers(FAULT if is_fault else PASSED) for is_fault in every(period, 1100)])
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}")) as grader:
            return [await grader.grade(f"run.x.{each}.0", prompt(), completion()) for each in range(1100)]

    rewards: list[Reward] = run(work())
    return rewards


def test_two_per_cent_of_faults_over_http_end_a_run_and_are_named() -> None:
    with pytest.raises(TooManyFaultsError, match=r"(?s)18 of the last 900 samples .*\(2\.0%;.*18 × sandbox: died"):
        grade_many(period=50)


def test_half_a_per_cent_of_faults_over_http_are_masked() -> None:
    assert sum(each.is_fault for each in grade_many(period=200)) == 5
