"""Rewards of verdicts; a fault of the service has none."""

from __future__ import annotations

import pytest

from sandbox_service.judging.reward import score
from sandbox_service.judging.verdict import overall
from sandbox_service.schema import Reward, TestResult, Verdict

AC, WA, TLE, MLE, OLE, RTE, CE, IE = Verdict
ALL = Reward()
FRACTION = Reward(scheme="fraction")
WEIGHTED = Reward(scheme="weighted")
VALUES = Reward(scheme="values", no_format=-1.1, failed=0.1, passed=1.1)
SCHEMES = [ALL, FRACTION, WEIGHTED, VALUES]


def results(*verdicts: Verdict) -> list[TestResult]:
    return [TestResult(index=index, verdict=verdict) for index, verdict in enumerate(verdicts)]


def pay(reward: Reward, *verdicts: Verdict, weights: tuple[float, ...] = (1.0, 3.0)) -> float | None:
    return score(reward, overall(results(*verdicts), len(weights)), results(*verdicts), weights)


@pytest.mark.parametrize(
    ("reward", "verdicts", "paid"),
    [
        (ALL, [AC, AC], 1.0),
        (ALL, [AC, WA], 0.0),
        (ALL, [WA], 0.0),
        (FRACTION, [AC, AC], 1.0),
        (FRACTION, [AC, WA], 0.5),
        (FRACTION, [WA, AC], 0.5),
        (FRACTION, [WA], 0.0),
        (WEIGHTED, [AC, AC], 1.0),
        (WEIGHTED, [AC, WA], 0.25),
        (WEIGHTED, [TLE, AC], 0.75),
        (VALUES, [AC, AC], 1.1),
        (VALUES, [AC, WA], 0.1),
    ],
)
def test_each_scheme_pays(reward: Reward, verdicts: list[Verdict], paid: float) -> None:
    assert pay(reward, *verdicts) == paid


@pytest.mark.parametrize("reward", SCHEMES)
def test_our_fault_is_no_number(reward: Reward) -> None:
    assert pay(reward, AC, IE) is None
    assert pay(reward, AC) is None
    assert pay(reward) is None
    assert score(reward, IE, [], [1.0], no_format=True) is None


def test_a_part_is_not_paid_where_a_part_is_unknown() -> None:
    assert pay(FRACTION, IE, WA) is None
    assert pay(WEIGHTED, IE, WA) is None
    assert pay(ALL, IE, WA) == 0.0
    assert pay(VALUES, IE, WA) == 0.1


@pytest.mark.parametrize(("reward", "paid"), [(ALL, 0.0), (FRACTION, 0.0), (WEIGHTED, 0.0), (VALUES, 0.1)])
def test_a_program_that_does_not_compile_failed(reward: Reward, paid: float) -> None:
    assert score(reward, CE, [], [1.0, 3.0]) == paid


@pytest.mark.parametrize(("reward", "paid"), [(ALL, 0.0), (FRACTION, 0.0), (WEIGHTED, 0.0), (VALUES, -1.1)])
def test_no_program_at_all(reward: Reward, paid: float) -> None:
    assert score(reward, CE, [], [1.0, 3.0], no_format=True) == paid


@pytest.mark.parametrize("verdict", [WA, TLE, MLE, OLE, RTE, CE])
def test_only_ac_is_paid_in_full(verdict: Verdict) -> None:
    assert score(ALL, verdict, results(AC, AC), [1.0, 1.0]) == 0.0
    assert score(VALUES, verdict, results(AC, AC), [1.0, 1.0]) == 0.1


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 1e-300, 1e308])
def test_all_weights_together_are_exactly_one(weight: float) -> None:
    weights = (weight, weight, weight / 7)
    assert pay(WEIGHTED, AC, AC, AC, weights=weights) == 1.0
    assert pay(WEIGHTED, WA, WA, WA, weights=weights) == 0.0


def test_a_result_counts_once() -> None:
    twice = [TestResult(index=0, verdict=AC), TestResult(index=0, verdict=AC), TestResult(index=1, verdict=WA)]
    assert score(FRACTION, WA, twice, [1.0, 1.0]) == 0.5
