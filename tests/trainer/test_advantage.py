"""Tests of group advantages."""

from __future__ import annotations

import math
import statistics

import pytest

from trainer.advantage import advantages

NAMES = ("grpo", "dr_grpo", "rloo")


def test_by_hand() -> None:
    """Of 1, 0, 0, 1: mean 1/2, unbiased deviation √(1/3)."""
    high = 0.5 / (math.sqrt(1 / 3) + 1e-6)
    assert advantages("grpo", [1, 0, 0, 1]) == pytest.approx([high, -high, -high, high], rel=1e-12)
    assert advantages("dr_grpo", [1, 0, 0, 1]) == [0.5, -0.5, -0.5, 0.5]
    assert advantages("rloo", [1, 0, 0, 1]) == pytest.approx([2 / 3, -2 / 3, -2 / 3, 2 / 3])


def test_against_the_standard_library() -> None:
    rewards = [0.3, -1.0, 0.25, 0.7, 1.0]
    mean, std = statistics.mean(rewards), statistics.stdev(rewards)
    assert advantages("grpo", rewards) == pytest.approx([(r - mean) / (std + 1e-6) for r in rewards])
    others = [statistics.mean(rewards[:n] + rewards[n + 1 :]) for n in range(5)]
    assert advantages("rloo", rewards) == pytest.approx([r - o for r, o in zip(rewards, others, strict=True)])


@pytest.mark.parametrize("name", NAMES)
def test_masked_do_not_vote_and_get_0(name: str) -> None:
    voters = advantages(name, [1.0, 0.0, 0.5])
    assert advantages(name, [None, 1.0, None, 0.0, 0.5]) == [0.0, voters[0], 0.0, *voters[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_equal_rewards_give_0(name: str) -> None:
    assert advantages(name, [0.1] * 7) == pytest.approx([0.0] * 7, abs=1e-9)
    assert advantages(name, [1.0] * 8) == [0.0] * 8


@pytest.mark.parametrize("name", NAMES)
def test_nobody_voted(name: str) -> None:
    assert advantages(name, [None, None]) == [0.0, 0.0]
    assert advantages(name, []) == []


@pytest.mark.parametrize("name", NAMES)
def test_one_voter_has_no_one_to_be_compared_with(name: str) -> None:
    assert advantages(name, [None, 1.0]) == [0.0, 0.0]


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="finite"):
        advantages("grpo", [1.0, math.nan])
