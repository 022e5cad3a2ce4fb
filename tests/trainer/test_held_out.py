"""Tests of the evaluation during a run: its figures, its seeds, and when it is due."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.trainer.tiny import save_tiny
from trainer.config import Config, resolve
from trainer.episode import Completion, Prompt, Reward
from trainer.held_out import HeldOut, held_out_prompts


class World:
    """Engine and grader: sample k of problem p is right if k >= p; the last sample of problem 1 has no verdict."""

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.names: list[str] = []

    async def generate(self, ids: Sequence[int], seed: int, max_tokens: int) -> Completion:
        self.seeds.append(seed)
        return Completion([1] * (2 + ids[0]), [0.0] * (2 + ids[0]), "", max_tokens < 9, 0, 0)

    async def grade(self, name: str, prompt: Prompt, _: Completion, *, all_tests: bool) -> Reward:
        assert all_tests, "a pass rate by some of the tests is too high"
        self.names.append(name)
        number = int(name.rpartition(".")[2])
        if (prompt.ids[0], number) == (1, 3):
            return Reward(None, "IE")
        return Reward(float(number >= prompt.ids[0]), "AC" if number >= prompt.ids[0] else "WA")


def configured(**held_out: Any) -> Config:
    said = {"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": {"max_tokens": 9}}
    return resolve(said | {"held_out": {"problems": ["h"]} | held_out})


def figures(world: Any, config: Config, version: int = 1) -> dict[str, float]:
    prompts = [Prompt(f"p.{number}", [number], {}) for number in range(3)]
    return asyncio.run(HeldOut(world, world, prompts).figures(version, config))


def test_the_figures_are_means_over_problems() -> None:
    told = figures(World(), configured())
    assert told == {
        "held_out_pass_rate": (1 + 2 / 3 + 2 / 4) / 3,
        "held_out_solved": 1.0,
        "held_out_length": (4 * 2 + 3 * 3 + 4 * 4) / 11,
        "held_out_truncated": 0.0,
    }


def test_seeds_are_the_same_at_every_evaluation_and_names_are_not() -> None:
    one, other = World(), World()
    figures(one, configured())
    figures(other, configured(), version=2)
    assert one.seeds == other.seeds
    assert len(set(one.seeds)) == len(set(one.names)) == 12
    assert not set(one.names) & set(other.names)


def test_responses_have_the_room_of_the_stage() -> None:
    config, world = configured(), World()
    held_out = HeldOut(world, world, [Prompt("p", [1], {})])  # type: ignore[arg-type]
    for most, truncated in ((8, 1), (9, 0)):
        stage = config.model_copy(update={"rollout": config.rollout.model_copy(update={"max_tokens": most})})
        assert asyncio.run(held_out.figures(1, stage))["held_out_truncated"] == truncated


def test_it_is_due_every_so_many_steps_and_after_the_last() -> None:
    settings = configured(every=4).held_out
    assert [step for step in range(1, 11) if settings.is_due(step, steps=10)] == [4, 8, 10]
    assert not configured(problems=[]).held_out.is_due(10, 10)


def test_held_out_problems_are_read_as_they_are_trained_on(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_text('{"id": "a", "prompt": "hi", "tests": [{"type": "stdin", "output": ""}]}\n')
    said = {
        "model": {"path": str(save_tiny(tmp_path / "tiny"))},
        "data": {"train": ["none"], "format": "plain", "mixture": {"x": 1.0}, "difficulty": [0, 0.5]},
        "held_out": {"problems": [str(tmp_path / "h.jsonl")], "samples": 2},
    }
    world: Any = World()

    async def grade(*_: object, **__: object) -> Reward:
        return Reward(1.0, "AC")

    world.grade = grade
    config = resolve(said)
    told = asyncio.run(HeldOut(world, world, held_out_prompts(config)).figures(0, config))
    assert told["held_out_pass_rate"] == 1
    assert len(world.seeds) == 2
