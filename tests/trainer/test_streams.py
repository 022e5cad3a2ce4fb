"""Tests which rows meet in which optimiser step, with which weight and advantage, against the authors' scripts.

The restatements are of verl's actor (its forks ran Archer, ASPO, ArcherCoder-DAPO and DeepCoder) and of AReaL's (M2PO):

    verl   the batch is split in order by ppo_mini_batch_size × n rows, in every epoch alike. A micro-batch's mean is
           divided by gradient_accumulation, which is fixed, so the rest of a batch weighs less. With micro-batches of
           one row the "token-mean" is over each response. Ranks hold consecutive parts of the batch and split these.
    AReaL  ppo_n_minibatches parts of about equal size; each a mean over all of its tokens; adv_norm before.

`python -m pytest -s tests/trainer/test_streams.py` prints the table.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from trainer.batch import trained_episodes, training_rows
from trainer.config import Config, load
from trainer.episode import Completion, Episode, Group, MicroBatch, Prompt, Reward, Tally
from trainer.train import Learner

Step = Mapping[int, tuple[float, float]]  # row → the weight of each of its tokens, and its advantage
TOLERANCE = 1e-6
PUBLISHED = {"archer_1.5b": 32, "aspo_1.5b": 16, "archercoder_dapo_1.5b": 16, "deepcoder_14b": 64}
RANKS = 8


@dataclass
class Recorder:
    """A policy that notes what it is given."""

    steps: list[Step] = field(default_factory=list)

    def score(self, micro: Sequence[MicroBatch], **_: object) -> list[torch.Tensor]:
        return [each.behaviour for each in micro]

    def update(self, micro: Sequence[MicroBatch], *_: object) -> Tally:
        step: dict[int, tuple[float, float]] = {}
        for each in micro:
            rows = each.ids[each.positions == 0].tolist()
            for number, row in enumerate(rows):
                own = each.sequence == number
                assert len(set(each.weight[own].tolist())) == 1
                if each.weight[own][0]:
                    step[row] = float(each.weight[own][0]), float(each.advantage[own][0])
        self.steps.append(step)
        return Tally()

    def release_memory(self) -> None: ...


class Alone:
    """One rank."""

    rank, size = 0, 1

    def gather(self, tally: Tally) -> list[Tally]:
        return [tally]


def groups_of(config: Config, alive: int, truncated: float = 0.0) -> list[Group]:
    """Groups as they come to training. The first token of a row is its number."""
    draw, groups = random.Random(alive), []
    for prompt in range(alive):
        episodes = []
        for sample in range(config.rollout.samples):
            length = draw.randint(1, 60)
            own = Prompt(str(prompt), [prompt * config.rollout.samples + sample, 0], {})
            made = Completion([5] * length, [-1.0] * length, "", is_truncated=False, version=0, last_version=0)
            episodes.append(Episode(own, made, Reward(float(sample % 3 == 0)), is_masked=draw.random() < truncated))
        groups.append(Group(Prompt(str(prompt), [0], {}), episodes))
    return groups


def ours(config: Config, groups: Sequence[Group]) -> list[Step]:
    recorder = Recorder()
    rows = training_rows(trained_episodes(groups, config))
    Learner(config, cast(Any, recorder), cast(Any, Alone())).learn(rows, 1)
    return recorder.steps


@dataclass(frozen=True)
class Sample:
    """A response of the restated batch."""

    row: int
    tokens: int
    advantage: float


def kept(groups: Sequence[Group]) -> list[Sample]:
    """The batch in order, without dropped rows, with advantages by torch."""
    samples = []
    for group in groups:
        own = [each for each in group.episodes if not each.is_masked]
        rewards = torch.tensor([each.total for each in own], dtype=torch.float64)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        samples += [
            Sample(each.prompt.ids[0], len(each.completion.ids), float(worth))
            for each, worth in zip(own, advantages, strict=True)
        ]
    return samples


def verl(samples: Sequence[Sample], mini_rows: int, epochs: int, ranks: int = 1, token_budget: int = 0) -> list[Step]:
    """The steps of all ranks together. `token_budget`: of dynamic micro-batches; 0: micro-batches of one row."""
    size = len(samples) // ranks
    own = [samples[rank * size : (rank + 1) * size] for rank in range(ranks)]
    mini = mini_rows // ranks
    steps: list[Step] = []
    for _ in range(epochs):
        for start in range(0, size, mini):
            step = {}
            for part in own:
                for micro in micro_batches(part[start : start + mini], token_budget):
                    tokens = sum(each.tokens for each in micro)
                    for each in micro:
                        step[each.row] = len(micro) / mini / tokens / ranks, each.advantage
            steps.append(step)
    return steps


def micro_batches(samples: Sequence[Sample], token_budget: int) -> list[Sequence[Sample]]:
    if not token_budget:
        return [[each] for each in samples]
    count = math.ceil(sum(each.tokens for each in samples) / token_budget)
    return [samples[number::count] for number in range(count)]


def assert_same(found: Sequence[Step], expected: Sequence[Step]) -> float:
    """Return the largest relative difference of weight × advantage."""
    assert [sorted(step) for step in found] == [sorted(step) for step in expected], "rows meet in the same steps"
    gaps = [
        abs(step[row][0] * step[row][1] - other[row][0] * other[row][1]) / abs(other[row][0] * other[row][1])
        for step, other in zip(found, expected, strict=True)
        for row in step
    ]
    assert max(gaps) <= TOLERANCE
    return max(gaps)


@pytest.mark.parametrize("alive", [64, 40, 32])
@pytest.mark.parametrize("name", ["archer_1.5b", "aspo_1.5b", "archercoder_dapo_1.5b"])
def test_the_stream_is_that_of_the_script(name: str, alive: int) -> None:
    config = load(Path(name))
    groups, mini = groups_of(config, alive), PUBLISHED[name] * config.rollout.samples
    found, expected = ours(config, groups), verl(kept(groups), mini, config.optimiser.epochs)
    gap = assert_same(found, expected)
    rows = [len(step) for step in found]
    print(f"| {name} | {alive} of 64 | {len(found)} | {rows[: len(rows) // config.optimiser.epochs]} | {gap:.1g} |")
    if name == "aspo_1.5b" and alive == 32:
        assert len(found) == 6
    split = verl(kept(groups), mini, config.optimiser.epochs, RANKS)
    assert len(split) == len(found), "as many steps; which rows meet depends on the number of ranks there"
    weights = [sorted(weight for weight, _ in step.values()) for step in (*found, *split)]
    assert sum(map(sum, weights[: len(found)])) == pytest.approx(sum(map(sum, weights[len(found) :])))


def test_deepcoder_is_a_token_mean_as_far_as_its_micro_batches_reach() -> None:
    config = load(Path("deepcoder_14b"))
    groups, mini = groups_of(config, 128), 64 * 8
    found = ours(config, groups)
    gap = assert_same(found, verl(kept(groups), mini, 1, token_budget=10**9))
    print(f"| deepcoder_14b, one | 128 of 128 | {len(found)} | {[len(each) for each in found]} | {gap:.1g} |")
    several = verl(kept(groups), mini, 1, token_budget=1_000)
    ratios = [several[0][row][0] / found[0][row][0] for row in found[0]]
    print(f"| deepcoder_14b, of 1,000 tokens | weights there {min(ratios):.2f} to {max(ratios):.2f} of ours |")
    assert sorted(several[0]) == sorted(found[0])
    assert 0.5 < min(ratios) < 1 < max(ratios) < 2


def test_truncated_rows_are_dropped_there_and_masked_here() -> None:
    """There the steps close up and cut groups; here a step has whole groups. Both have as many rows in all."""
    config = load(Path("archercoder_dapo_1.5b"))
    groups = groups_of(config, 64, truncated=0.2)
    found, expected = ours(config, groups), verl(kept(groups), 16 * 16, 3)
    assert sorted(row for step in found for row in step) == sorted(row for step in expected for row in step)
    assert (len(found), len(expected)) == (12, 12)
    first, theirs = found[0], expected[0]
    shared = first.keys() & theirs.keys()
    assert all(first[row] == pytest.approx(theirs[row], rel=TOLERANCE) for row in shared)
    assert shared == first.keys()
    print(f"| archercoder_dapo_1.5b, 20 % truncated | {len(first)} rows in step 1, there {len(theirs)} |")


def test_m2po_is_a_token_mean_over_each_half_with_advantages_normalised_over_the_batch() -> None:
    config = load(Path("m2po_8b_full"))
    groups = groups_of(config, 128)
    found = ours(config, groups)
    samples = {each.row: each for each in kept(groups)}
    tokens = torch.tensor([each.tokens for each in samples.values()])
    raw = torch.tensor([each.advantage for each in samples.values()], dtype=torch.float64).repeat_interleave(tokens)
    normalised = (raw - raw.mean()) / (raw.std(unbiased=False) + 1e-5)
    worth = dict(zip(samples, normalised[tokens.cumsum(0) - 1].tolist(), strict=True))
    assert len(found) == 2
    assert sorted(row for step in found for row in step) == sorted(samples)
    gaps = []
    for step in found:
        share = sum(samples[row].tokens for row in step)
        assert share == pytest.approx(int(tokens.sum()) / 2, rel=0.02)
        gaps += [abs(weight * own - worth[row] / share) * share for row, (weight, own) in step.items()]
    print(f"| m2po_8b | 128 of 128 | 2 | {[len(step) for step in found]} | {max(gaps):.1g} |")
    assert max(gaps) <= TOLERANCE
