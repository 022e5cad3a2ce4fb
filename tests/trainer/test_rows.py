"""Tests of training rows: masked and silenced episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from trainer.batch import trained_episodes, training_rows
from trainer.config import resolve
from trainer.episode import Completion, Episode, Group, Prompt, Reward, Row

PROMPT = Prompt("p", [1, 2, 3], {})


def episode(value: float | None, masked: bool = False, silenced: bool = False, penalty: float = 0.0) -> Episode:
    made = Completion([5, 6], [-0.1, -0.2], "", is_truncated=False, version=0, last_version=0)
    return Episode(PROMPT, made, Reward(value), penalty, masked or value is None, silenced)


def rows_of(*groups: Sequence[Episode], **advantage: Any) -> list[list[Row]]:
    said = {"model": {"path": "m"}, "data": {"train": ["d"]}, "advantage": advantage}
    return training_rows(trained_episodes([Group(PROMPT, each) for each in groups], resolve(said)))


def worth(*episodes: Episode, advantage: str = "grpo") -> list[float]:
    return [row.advantage for row in rows_of(episodes, name=advantage)[0]]


def test_a_row_is_the_engines_own_tokens() -> None:
    ((row, _),) = rows_of([episode(1.0), episode(0.0)])
    assert (list(row.ids), row.response, list(row.behaviour)) == ([1, 2, 3, 5, 6], 2, [-0.1, -0.2])


def test_a_masked_sample_changes_nobodys_advantage() -> None:
    without = worth(episode(1.0), episode(0.0), episode(0.0))
    assert worth(episode(1.0), episode(None), episode(0.0), episode(0.0)) == without


def test_a_silenced_sample_votes() -> None:
    loud = worth(episode(1.0), episode(0.0), episode(0.0))
    assert worth(episode(1.0), episode(0.0, silenced=True), episode(0.0)) == [loud[0], 0.0, loud[2]]


def test_a_penalty_is_learnt_from() -> None:
    assert worth(episode(1.0), episode(1.0, penalty=-0.5), advantage="dr_grpo") == pytest.approx([0.25, -0.25])


def test_advantages_are_normalised_over_the_tokens_of_the_batch() -> None:
    groups = [episode(1.0), episode(0.0)], [episode(1.0), episode(0.4), episode(None)]
    rows = rows_of(*groups, name="dr_grpo", normalise=True)
    assert [len(group) for group in rows] == [2, 2]
    trained = [row.advantage for group in rows for row in group]
    assert sum(trained) == pytest.approx(0)
    assert sum(each**2 for each in trained) / 4 == pytest.approx(1, rel=1e-3)
