"""Tests of batches, staleness bounds and dynamic sampling, with fakes of engine and service."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.trainer import pipeline_world
from trainer.checkpoint import read_groups, write_groups
from trainer.collect import Batch, Collector
from trainer.config import Config, resolve
from trainer.config.sections import Data
from trainer.episode import Completion, Prompt, Reward
from trainer.errors import UnavailableError
from trainer.metrics import batch_metrics

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
        self.version = 0  # of the weights
        self.held: dict[int, asyncio.Event] = {}  # by prompt: not finished before
        self.lengths: set[int] = set()

    async def generate(self, ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        version = self.version
        self.seeds.append(seed)
        self.lengths.add(max_tokens)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            if ids[-1] in self.held:
                await self.held[ids[-1]].wait()
        finally:
            self.at_once -= 1
        return Completion([7, 8], [-0.5, -0.25], str(seed), False, version, self.version)

    async def grade(self, name: str, prompt: Prompt, _: Completion) -> Reward:
        self.names.append(name)
        value = self.worth(prompt, int(name.rpartition(".")[2]))
        return Reward(value, "IE" if value is None else "AC" if value else "WA")

    def select(self, data: Data) -> None: ...

    def take(self, count: int) -> list[Prompt]:
        self.given += count
        return [self.by_id(str(each)) for each in range(self.given - count, self.given)]

    def by_id(self, name: str) -> Prompt:
        return Prompt(name, [1, int(name)], {"tests": [name]})


def settings(**buffer: Any) -> Config:
    return resolve(
        {
            "model": {"path": "m"},
            "data": {"train": ["d"]},
            "rollout": {"prompts": 6, "samples": SAMPLES},
            "buffer": buffer,
        }
    )


def collector(world: Pretended, config: Config) -> Collector:
    return Collector(config, world, world, world)  # type: ignore[arg-type]


def batch_of(world: Pretended, **buffer: Any) -> Batch:
    async def run() -> Batch:
        one = collector(world, config := settings(**buffer))
        await one.begin(0, config)
        return await one.batch()

    return asyncio.run(run())


async def let_all_finish() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def names(batch: Batch) -> list[int]:
    return [int(group.prompt.id) for group in batch.groups]


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
    assert all(group.is_flat and sum(not each.is_masked for each in group.episodes) == 1 for group in batch.groups)


def test_what_a_service_raises_ends_the_batch() -> None:
    def away(prompt: Prompt, number: int) -> float:
        raise UnavailableError("nobody there")

    with pytest.raises(UnavailableError, match="nobody there"):
        batch_of(Pretended(away))


def test_figures_are_of_all_that_was_sampled() -> None:
    batch = batch_of(Pretended(only_every_third), drop_flat=True)
    figures = batch_metrics(batch)
    groups = len(batch.groups) + len(batch.dropped)
    assert figures["flat_share"] == pytest.approx(len(batch.dropped) / groups)
    assert figures["pass_rate"] == pytest.approx((6 * 0.5 + len(batch.dropped)) / groups)
    assert (figures["length"], figures["fault_share"], figures["truncated"]) == (2, 0, 0)


def test_faults_are_in_no_rate() -> None:
    batch = batch_of(Pretended(lambda _, number: None if number == 0 else float(number > 1)))
    figures = batch_metrics(batch)
    assert figures["pass_rate"] == pytest.approx(2 / 3)
    assert figures["reward"] == pytest.approx(2 / 3)
    assert figures["fault_share"] == figures["masked_share"] == pytest.approx(1 / 4)


def test_a_batch_without_a_verdict_has_no_rate() -> None:
    figures = batch_metrics(batch_of(Pretended(lambda *_: None)))
    assert all(math.isnan(figures[name]) for name in ("reward", "pass_rate", "penalty"))
    assert figures["fault_share"] == figures["masked_share"] == 1


def test_nothing_is_sampled_while_a_batch_is_learnt_from() -> None:
    async def run() -> None:
        world = Pretended(differ)
        one = collector(world, config := settings())
        for version in range(3):
            world.version = version
            await one.begin(version, config)
            batch = await one.batch()
            await let_all_finish()
            assert (world.given, batch.staleness) == (6 * (version + 1), 0)

    asyncio.run(run())


@pytest.mark.parametrize("depth", [1, 4])
def test_so_many_batches_are_ahead_and_none_is_older(depth: int) -> None:
    async def run() -> list[int]:
        world, ages = Pretended(differ), []
        one = collector(world, config := settings(depth=depth))
        for version in range(12):
            world.version = version
            await one.begin(version, config)
            batch = await one.batch()
            await let_all_finish()
            assert names(batch) == list(range(version * 6, version * 6 + 6)), "the oldest first"
            assert world.given == 6 * (version + 1 + depth)
            ages.append(batch.staleness)
        return ages

    assert asyncio.run(run()) == [min(version, depth) for version in range(12)]


def test_what_would_be_too_old_is_waited_for() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {3: asyncio.Event()}
        one = collector(world, config := settings(depth=1))
        await one.begin(0, config)
        assert names(await one.batch()) == [0, 1, 2, 4, 5, 6], "it is not waited for as long as it may be later"
        world.version = 1
        await one.begin(1, config)
        await let_all_finish()
        coming = asyncio.create_task(one.batch())
        await let_all_finish()
        assert not coming.done(), "it is now or never"
        world.held[3].set()
        batch = await coming
        assert (names(batch), batch.staleness, batch.expired) == ([3, 7, 8, 9, 10, 11], 1, 0)

    asyncio.run(run())


def test_what_is_too_old_is_dropped_and_counted_where_it_is_not_waited_for() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {3: asyncio.Event()}
        one = collector(world, config := settings(depth=1, late="drop"))
        taken, expired = [], 0
        for version in range(4):
            world.version = version
            await one.begin(version, config)
            batch = await one.batch()
            assert batch.staleness <= 1
            taken += names(batch)
            expired += batch.expired
        await let_all_finish()
        assert (expired, 3 in taken, len(set(taken))) == (1, False, 24)
        assert world.at_once == 0, "what will be too old is not sampled to its end"

    asyncio.run(run())


def test_a_bound_above_the_depth_lets_the_slow_be_late() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {3: asyncio.Event()}
        one = collector(world, config := settings(depth=1, max_staleness=3))
        for version in range(4):
            world.version = version
            await one.begin(version, config)
            await let_all_finish()
            if version == 3:
                world.held[3].set()
            batch = await one.batch()
        assert (names(batch)[0], batch.staleness, batch.expired) == (3, 3, 0)

    asyncio.run(run())


def test_a_group_is_as_old_as_its_oldest_token() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {9: asyncio.Event()}
        one = collector(world, config := settings(depth=1))
        await one.begin(0, config)
        await one.batch()
        world.version = 1
        await one.begin(1, config)
        world.held[9].set()
        batch = await one.batch()
        (slow,) = [group for group in batch.groups if group.prompt.id == "9"]
        assert (slow.version, slow.episodes[0].completion.last_version) == (0, 1)
        assert batch_metrics(batch)["mixed_share"] == pytest.approx(1 / 6)

    asyncio.run(run())


def test_flat_groups_are_replaced_while_a_batch_is_learnt_from() -> None:
    async def run() -> None:
        world = Pretended(only_every_third)
        one = collector(world, config := settings(depth=1, drop_flat=True))
        await one.begin(0, config)
        await one.batch()
        await let_all_finish()
        assert len((await one.state())[1]) >= 6, "the next batch is complete by now"

    asyncio.run(run())


def test_trouble_while_a_batch_is_learnt_from_is_raised_at_the_next() -> None:
    def away(prompt: Prompt, number: int) -> float:
        if int(prompt.id) >= 6:
            raise UnavailableError("nobody there")
        return float(number % 2)

    async def run() -> None:
        world = Pretended(away)
        world.held = {each: asyncio.Event() for each in range(6, 12)}
        one = collector(world, config := settings(depth=1))
        await one.begin(0, config)
        await one.batch()
        for event in world.held.values():
            event.set()
        with pytest.raises(UnavailableError, match="nobody there"):
            await one.batch()

    asyncio.run(run())


def test_a_sync_may_wait_for_what_is_in_flight() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {9: asyncio.Event()}
        one = collector(world, config := settings(depth=1))
        await one.begin(0, config)
        await one.batch()
        draining = asyncio.create_task(one.drain())
        await let_all_finish()
        assert not draining.done()
        world.held[9].set()
        await draining
        state, ready = await one.state()
        assert (state["on_the_way"], len(ready)) == ([], 6)

    asyncio.run(run())


def test_without_mixed_samples_batches_are_in_the_order_of_their_start() -> None:
    async def run() -> None:
        world = Pretended(differ)
        world.held = {0: asyncio.Event()}
        config = settings(depth=1)
        config = config.model_copy(update={"buffer": config.buffer.model_copy(update={"in_flight": "finish"})})
        one = collector(world, config)
        await one.begin(0, config)
        coming = asyncio.create_task(one.batch())
        await let_all_finish()
        assert not coming.done(), "eleven are finished, but not the first"
        world.held[0].set()
        assert names(await coming) == [0, 1, 2, 3, 4, 5]

    asyncio.run(run())


def test_a_run_goes_on_with_the_groups_that_it_had(tmp_path: Path) -> None:
    """Some finished and some on their way: from files, into another collector, with the same samples to the bit."""

    async def until(version: int, one: Collector, world: Pretended, config: Config) -> Batch:
        world.version = version
        await one.begin(version, config)
        await let_all_finish()
        return await one.batch()

    async def run() -> None:
        config = settings(depth=1)
        world = Pretended(differ)
        world.held = {8: asyncio.Event(), 9: asyncio.Event()}
        one = collector(world, config)
        await until(0, one, world, config)
        state, ready = await one.state()
        assert [len(ready), len(state["on_the_way"])] == [4, 2]
        state = json.loads(json.dumps(state))
        write_groups(tmp_path, ready)
        by_id = {group.prompt.id: group.prompt for group in ready}
        assert read_groups(tmp_path, by_id.__getitem__) == ready

        again = Pretended(differ)
        again.given = world.given
        other = collector(again, config)
        await other.restore(state, read_groups(tmp_path, by_id.__getitem__), 1)
        batch = await until(1, other, again, config)
        for event in world.held.values():
            event.set()
        undisturbed = await until(1, one, world, config)
        assert sorted(names(batch)) == names(undisturbed) == [6, 7, 8, 9, 10, 11]
        assert again.given == world.given, "what was on its way is no new group"
        texts = {group.number: [each.completion.text for each in group.episodes] for group in batch.groups}
        assert texts == {
            group.number: [each.completion.text for each in group.episodes] for group in undisturbed.groups
        }
        kept = [group for group in batch.groups if group.number in (7, 8)]
        assert kept == [group for group in undisturbed.groups if group.number in (7, 8)]

    asyncio.run(run())


def test_a_stage_changes_what_is_begun_from_then_on() -> None:
    async def run() -> None:
        world = Pretended(differ)
        one = collector(world, config := settings())
        await one.begin(0, config)
        await one.batch()
        longer = config.model_copy(
            update={"rollout": config.rollout.model_copy(update={"max_tokens": 99, "samples": 2, "prompts": 3})}
        )
        await one.begin(1, longer)
        batch = await one.batch()
        assert [len(group.episodes) for group in batch.groups] == [2, 2, 2]
        assert world.lengths == {config.rollout.max_tokens, 99}

    asyncio.run(run())


def test_nothing_is_begun_that_no_step_would_learn_from() -> None:
    async def run() -> int:
        world = Pretended(differ)
        one = collector(world, config := settings(depth=4).model_copy(update={"steps": 6}))
        for version in range(6):
            await one.begin(version, config)
            await one.batch()
        return world.given

    assert asyncio.run(run()) == 6 * 6


def test_flat_groups_that_are_not_replaced_make_a_batch_smaller_and_not_the_next_one_younger() -> None:
    async def run() -> list[tuple[int, int, int]]:
        world, seen = Pretended(only_every_third), []
        one = collector(world, config := settings(depth=1, drop_flat=True, max_generations=1))
        for version in range(4):
            world.version = version
            await one.begin(version, config)
            batch = await one.batch()
            await let_all_finish()
            seen.append((len(batch.groups), len(batch.dropped), batch.staleness))
        return seen

    assert asyncio.run(run()) == [(2, 4, 0), (2, 4, 1), (2, 4, 1), (2, 4, 1)]


def test_dropped_groups_are_counted_after_a_checkpoint_as_without_one() -> None:
    async def run() -> None:
        world = Pretended(only_every_third)
        world.held = {15: asyncio.Event()}
        one = collector(world, config := settings(drop_flat=True))
        await one.begin(0, config)
        await let_all_finish()
        state, finished = await one.state()
        assert len(state["on_the_way"]) == 1
        assert [group.is_flat for group in finished].count(True) == state["dropped"] == 10

        again = Pretended(only_every_third)
        again.given = world.given
        other = collector(again, config)
        await other.restore(json.loads(json.dumps(state)), finished, 0)
        await other.begin(0, config)
        world.held[15].set()
        for batch in (await one.batch(), await other.batch()):
            assert sorted(names(batch)) == [0, 3, 6, 9, 12, 15]
            assert sorted(int(group.prompt.id) for group in batch.dropped) == [1, 2, 4, 5, 7, 8, 10, 11, 13, 14]

    asyncio.run(run())


def test_the_simulated_pipeline_samples_while_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of the table in docs/training-results.md."""
    monkeypatch.setattr(pipeline_world, "STEPS", 6)
    for name in ("SAMPLING", "GRADING", "LEARNING"):
        monkeypatch.setattr(pipeline_world, name, 0.001)
    assert [pipeline_world.run(depth, None, uneven=False)[1] for depth in (0, 1)] == [0, 1]
