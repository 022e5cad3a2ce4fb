"""Groups of tests: rules, dependencies, shares, and the reward that follows from them."""

from __future__ import annotations

import pytest

from sandbox_service.judging import scoring
from sandbox_service.judging.reward import score
from sandbox_service.schema import GroupResult, Reward, StdinTest, TestGroup, TestResult, Verdict

AC, WA, TLE = Verdict.AC, Verdict.WA, Verdict.TLE


def in_groups(*names: str) -> list[StdinTest]:
    return [StdinTest(output="", group=name) for name in names]


def results(*found: Verdict | float | None) -> list[TestResult]:
    """Return results by index: a verdict, a share (accepted if it is 1), or None for a test that was not run."""
    made = []
    for index, each in enumerate(found):
        if isinstance(each, float):
            made.append(TestResult(index=index, verdict=AC if each == 1 else WA, share=each))
        elif each is not None:
            made.append(TestResult(index=index, verdict=each))
    return made


def scores(groups: list[TestGroup], names: tuple[str, ...], *found: Verdict | float | None) -> list[float]:
    return [each.score for each in scoring.group_results(groups, in_groups(*names), results(*found))]


@pytest.mark.parametrize(
    ("rule", "found", "expected"),
    [
        ("all", [AC, AC], 10.0),
        ("all", [AC, WA], 0.0),
        ("all", [1.0, 0.9], 0.0),
        ("all", [AC, None], 0.0),
        ("min", [1.0, 0.3], 3.0),
        ("min", [AC, AC], 10.0),
        ("max", [WA, 0.4], 4.0),
        ("sum", [AC, WA], 5.0),
        ("sum", [0.5, 0.5], 5.0),
        ("sum", [AC, None], 5.0),
    ],
)
def test_each_rule(rule: str, found: list[Verdict | float | None], expected: float) -> None:
    group = TestGroup.model_validate({"name": "a", "points": 10.0, "rule": rule})
    assert scores([group], ("a", "a"), *found) == [expected]


def test_a_sum_is_by_weight() -> None:
    tests = [StdinTest(output="", group="a", weight=3.0), StdinTest(output="", group="a")]
    (found,) = scoring.group_results([TestGroup(name="a", points=8.0, rule="sum")], tests, results(AC, WA))
    assert found == GroupResult(name="a", score=6.0, points=8.0, verdict=WA)


def test_a_group_pays_only_if_those_it_requires_are_whole() -> None:
    chain = [
        TestGroup(name="c", points=3.0, requires=["b"]),
        TestGroup(name="b", points=2.0, requires=["a"]),
        TestGroup(name="a", points=1.0, rule="sum"),
    ]
    assert scores(chain, ("a", "b", "c"), AC, AC, AC) == [3.0, 2.0, 1.0]
    assert scores(chain, ("a", "b", "c"), 0.5, AC, AC) == [0.0, 0.0, 0.5]
    assert scores(chain, ("a", "b", "c"), AC, WA, AC) == [0.0, 0.0, 1.0]


def test_tests_of_lost_groups_need_not_be_run() -> None:
    groups = [
        TestGroup(name="all"),
        TestGroup(name="min", rule="min"),
        TestGroup(name="sum", rule="sum"),
        TestGroup(name="max", rule="max"),
        TestGroup(name="after sum", requires=["sum"]),
        TestGroup(name="later", requires=["after sum"]),
        TestGroup(name="after max", requires=["max"]),
    ]
    names = ("all", "min", "min", "sum", "max")
    assert scoring.lost(groups, in_groups(*names), results(AC, AC, AC, AC, AC)) == set()
    assert scoring.lost(groups, in_groups(*names), results(WA)) == {"all"}
    assert scoring.lost(groups, in_groups(*names), results(None, 0.5)) == set()
    assert scoring.lost(groups, in_groups(*names), results(None, TLE)) == {"min"}
    assert scoring.lost(groups, in_groups(*names), results(None, None, None, WA)) == {"after sum", "later"}
    assert scoring.lost(groups, in_groups(*names), results(None, None, None, None, WA)) == set()


@pytest.mark.parametrize(
    ("groups", "tests", "reason"),
    [
        ([{"name": "a"}, {"name": "a"}], ["a"], "same name"),
        ([{"name": "a", "requires": ["b"]}], ["a"], "no group"),
        ([{"name": "a", "requires": ["b"]}, {"name": "b", "requires": ["a"]}], ["a", "b"], "on itself"),
        ([{"name": "a"}], ["a", "z"], "tests.1"),
        ([{"name": "a"}, {"name": "b"}], ["a"], "no tests"),
    ],
)
def test_groups_that_cannot_be_scored_are_named(groups: list[dict[str, object]], tests: list[str], reason: str) -> None:
    found = scoring.fault([TestGroup.model_validate(each) for each in groups], in_groups(*tests))
    assert found is not None
    assert reason in found


def test_the_reward_is_the_share_of_the_score() -> None:
    groups = [GroupResult(name="a", score=30.0, points=30.0), GroupResult(name="b", score=10.0, points=70.0)]
    paid = Reward(scheme="score")
    assert score(paid, WA, results(AC, WA), [1.0, 1.0], groups=groups) == 0.4
    assert score(paid, WA, results(AC, WA), [1.0, 3.0]) == 0.25  # without groups, as `weighted`
    assert score(paid, WA, [*results(AC), TestResult(index=1, verdict=Verdict.IE)], [1.0, 1.0], groups=groups) is None
    samples = [GroupResult(name="a", score=0.0, points=0.0, verdict=AC)]
    assert score(paid, AC, results(AC), [1.0], groups=samples) == 1.0


@pytest.mark.parametrize("scheme", ["fraction", "weighted"])
def test_points_of_a_checker_count_as_a_part(scheme: str) -> None:
    paid = score(Reward.model_validate({"scheme": scheme}), WA, results(0.25, AC), [1.0, 1.0])
    assert paid == 0.625
