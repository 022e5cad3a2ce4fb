"""Evaluates the policy on held-out problems during a run, with the run's own vLLM and reward service.

Sampling is that of training: its temperature and its limits, with seeds that depend on problem and number only. For
intervals, other temperatures and selection by test cases use `proctor evaluate --watch`, with a vLLM of its own.
"""

import asyncio
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from trainer.config import Config
from trainer.config.sections import Duel
from trainer.engines import Engine
from trainer.episode import Episode, Prompt
from trainer.prompts import Prompts
from trainer.reward import Grader


def held_out_prompts(config: Config) -> list[Prompt]:
    """Return the prompts of the configured problems, none if no file is configured; see `Prompts.of` for errors."""
    if not config.held_out.problems:
        return []
    other: dict[str, Any] = {"train": config.held_out.problems, "order": "file", "difficulty": None, "mixture": {}}
    data = config.data.model_copy(update=other)
    prompts = Prompts.of(config.model_copy(update={"data": data, "stages": (), "duel": Duel()}))
    return prompts.take(len(prompts))


@dataclass(frozen=True)
class HeldOut:
    """The evaluation of held-out problems in a run. `figures` runs in rank 0's event loop."""

    engine: Engine
    grader: Grader
    prompts: Sequence[Prompt]
    run: str = field(default_factory=lambda: secrets.token_hex(4))  # part of ids, which differ between runs

    async def figures(self, version: int, config: Config) -> dict[str, float]:
        """Return metrics of all problems with a verdict, by the weights of a version and the settings of a step."""
        names = [(place, number) for place in range(len(self.prompts)) for number in range(config.held_out.samples)]
        episodes = await asyncio.gather(*(self._episode(version, config, *name) for name in names))
        graded = [each for each in episodes if not each.reward.is_fault]
        if not graded:
            return {}
        right: dict[str, list[bool]] = {}
        for each in graded:
            right.setdefault(each.prompt.id, []).append(each.reward.verdict == "AC")
        return {
            "held_out_pass_rate": fmean(map(fmean, right.values())),
            "held_out_solved": fmean(map(any, right.values())),
            "held_out_length": fmean(len(each.completion.ids) for each in graded),
            "held_out_truncated": fmean(each.completion.is_truncated for each in graded),
        }

    async def _episode(self, version: int, config: Config, place: int, number: int) -> Episode:
        prompt = self.prompts[place]
        seed = random.Random(f"{config.seed}/held_out/{prompt.id}/{number}").getrandbits(31)  # noqa: S311 - no secret
        completion = await self.engine.generate(prompt.ids, seed, config.room(len(prompt.ids)))
        name = f"{config.name}.{self.run}.{version}.{place}.held_out.{number}"
        # a pass rate by the few tests of `reward.tests` would be too high
        return Episode(prompt, completion, await self.grader.grade(name, prompt, completion, all_tests=True))
