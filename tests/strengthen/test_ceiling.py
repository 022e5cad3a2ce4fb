"""The correlations that chance allows: near one with many programs, less with few, none where nothing tells."""

from __future__ import annotations

from tests.strengthen.ceiling import ceilings
from tests.strengthen.measure import correlation

RATES = [0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 0.9, 1.0]


def test_few_programs_leave_less_than_many() -> None:
    many = ceilings(RATES, [(round(100 * each), 100) for each in RATES], correlation)
    few = ceilings(RATES, [(round(2 * each), 2) for each in RATES], correlation)
    assert many["best order"] > 0.99
    for name in ("this prediction is exact", "another one is exact"):
        assert many[name][0] > 0.95 > few[name][0]
        assert few[name][1] < few[name][0] < few[name][2]


def test_a_program_for_each_problem_says_nothing_about_rates() -> None:
    found = ceilings(RATES, [(round(each), 1) for each in RATES], correlation)
    assert found["another one is exact"] is None
    assert found["best order"] < 0.9


def test_equal_predictions_have_no_correlation() -> None:
    assert ceilings([1.0] * 3, [(1, 2), (2, 2), (0, 2)], correlation) == {}
