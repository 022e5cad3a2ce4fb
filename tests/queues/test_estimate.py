"""The estimate of the time that submissions take."""

from __future__ import annotations

import pytest

from sandbox_service.queues.estimate import FIRST_GUESS_SECONDS, Estimate


def learned(*answers: tuple[float, int]) -> Estimate:
    estimate = Estimate()
    for seconds, tests in answers:
        estimate.learn(seconds, tests)
    return estimate


def test_before_it_has_seen_anything_it_guesses() -> None:
    assert Estimate().cost(10) == pytest.approx(10 * FIRST_GUESS_SECONDS)
    assert Estimate().cost(0) == 0


def test_it_comes_to_know_how_long_a_test_takes() -> None:
    assert learned(*[(2.0, 10)] * 1000).cost(1) == pytest.approx(0.2, rel=0.01)
    assert learned(*[(0.01, 10)] * 1000).cost(1) == pytest.approx(0.001, rel=0.01)


def test_one_slow_answer_does_not_carry_it_away() -> None:
    assert learned((30.0, 1)).cost(1) < 0.5


def test_it_forgets_what_was_long_ago() -> None:
    assert learned(*[(10.0, 1)] * 500, *[(0.1, 1)] * 1500).cost(1) == pytest.approx(0.1, rel=0.01)


def test_an_answer_without_a_test_teaches_nothing() -> None:
    assert learned((5.0, 0)).cost(1) == FIRST_GUESS_SECONDS
