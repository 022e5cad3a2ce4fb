"""A batch is full, or as full as the bound on sampling allows; with an engine and a service that only pretend."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from trainer.collect import Batch, Collector
from trainer.config import resolve
from trainer.episode import Completion, Prompt, Reward
from trainer.errors import Away
from trainer.figures import figures_of

Worth = Callable[[Prompt, int], float | None]
SAMPLES = 4


class Pretended:
    """Engine and grader: sample k of a prompt is the text `k`, and worth what `worth` says."""

    def __init__(self, worth: Worth) -> None:
        self.worth = worth
        self.seeds: list[int | None] = []
        self.names: list[str] = []
        self.given = 0
        self.at_once = self.most_at_once = 0

    async def generate(self, _: Sequence[int], seed: int | None) -> Completion:
        self.seeds.append(seed)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return Completion([7, 8], [-0.5, -0.25], str(seed), is_truncated=False, version=3, last_version=3)

    async def grade(self, name: str, prompt: Prompt, _: Completion) -> Reward:
        self.names.append(name)
        value = self.worth(prompt, int(name.rpartition(".")[2]))
        return Reward(value, "IE" if value is None else "AC" if value else "WA")

    def prompts(self, count: int) -> list[Prompt]:
        self.given += count
        return [Prompt(str(each), [1, 2], {}) for each in range(self.given - count, self.given)]


def batch_of(world: Pretended, **buffer: Any) -> Batch:
    config = resolve(
        {
            "model": {"path": "m"},
            "data": {"train": ["d"]},
            "rollout": {"prompts": 6, "samples": SAMPLES},
            "buffer": buffer,
        }
    )
    return asyncio.run(Collector(config, world, world, world.prompts).batch())  # type: ignore[arg-type]


def differ(_: Prompt, number: int) -> float:
    return float(number % 2)


def only_every_third(prompt: Prompt, number: int) -> float:
    return float(number % 2) if int(prompt.id) % 3 == 0 else 1.0


def test_a_batch_has_all_its_groups() -> None:
    world = Pretended(differ)
    batch = batch_of(world)
    assert [len(group.episodes) for group in batch.groups] == [SAMPLES] * 6
    assert world.most_at_once == 6 * SAMPLES, "nothing waits for anything here"


def test_groups_are_in_the_order_in_which_they_were_begun() -> None:
    class Uneven(Pretended):
        async def grade(self, name: str, prompt: Prompt, completion: Completion) -> Reward:
            await asyncio.sleep(0.02 if int(prompt.id) % 2 else 0.001)
            return await super().grade(name, prompt, completion)

    assert [group.prompt.id for group in batch_of(Uneven(differ)).groups] == list("012345")


def test_every_sample_has_a_name_and_a_seed_of_its_own() -> None:
    world = Pretended(differ)
    batch_of(world)
    assert len(set(world.names)) == len(set(world.seeds)) == 6 * SAMPLES
    assert len({name.rpartition(".")[0] for name in world.names}) == 6, "before the last dot is the group"


def test_seeds_are_the_same_in_every_run_and_names_are_not() -> None:
    one, other = Pretended(differ), Pretended(differ)
    batch_of(one)
    batch_of(other)
    assert sorted(map(str, one.seeds)) == sorted(map(str, other.seeds))
    assert not set(one.names) & set(other.names)


def test_flat_groups_stay_where_nothing_is_said_of_them() -> None:
    batch = batch_of(Pretended(only_every_third))
    assert (len(batch.groups), len(batch.dropped)) == (6, 0)
    assert sum(group.is_flat for group in batch.groups) == 4


def test_dynamic_sampling_replaces_flat_groups() -> None:
    batch = batch_of(Pretended(only_every_third), drop_flat=True)
    assert len(batch.groups) == 6
    assert not any(group.is_flat for group in batch.groups)
    assert all(group.is_flat for group in batch.dropped)


def test_dynamic_sampling_ends() -> None:
    world = Pretended(lambda *_: 1.0)
    batch = batch_of(world, drop_flat=True, max_generations=3)
    assert (len(batch.groups), len(batch.dropped), world.given) == (0, 18, 18)


def test_dynamic_sampling_samples_no_more_than_it_may_need() -> None:
    world = Pretended(differ)
    batch_of(world, drop_flat=True)
    assert world.given == 6


def test_a_group_without_verdicts_is_flat_and_what_is_masked_is_no_voter() -> None:
    batch = batch_of(Pretended(lambda _, number: None if number else 1.0))
    assert all(group.is_flat and len(group.voters) == 1 for group in batch.groups)


def test_what_a_service_raises_ends_the_batch() -> None:
    def away(prompt: Prompt, number: int) -> float:
        raise Away("nobody there")

    with pytest.raises(Away, match="nobody there"):
        batch_of(Pretended(away))


def test_figures_are_of_all_that_was_sampled() -> None:
    batch = batch_of(Pretended(only_every_third), drop_flat=True)
    figures = figures_of(batch)
    groups = len(batch.groups) + len(batch.dropped)
    assert figures["flat_share"] == pytest.approx(len(batch.dropped) / groups)
    assert figures["pass_rate"] == pytest.approx((6 * 0.5 + len(batch.dropped)) / groups)
    assert (figures["length"], figures["fault_share"], figures["truncated"]) == (2, 0, 0)


def test_faults_are_in_no_rate() -> None:
    batch = batch_of(Pretended(lambda _, number: None if number == 0 else float(number > 1)))
    figures = figures_of(batch)
    assert figures["pass_rate"] == pytest.approx(2 / 3)
    assert figures["reward"] == pytest.approx(2 / 3)
    assert figures["fault_share"] == figures["masked_share"] == pytest.approx(1 / 4)
