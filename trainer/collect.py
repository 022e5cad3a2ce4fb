"""A batch of groups: each sample is graded the moment it is finished, and flat groups are replaced.

All of a batch is on its way at once; the engine and the service have their own bounds. With dynamic sampling a group
that teaches nothing makes room for the next prompt as soon as it is known to be flat, so the last of a batch is not
waited for to begin again. What was sampled in vain is counted.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from trainer.config import Config
from trainer.engines.base import Engine
from trainer.episode import Episode, Group, Prompt
from trainer.reward import Grader, settle


@dataclass
class Batch:
    """Groups to train on, and what it took to get them."""

    groups: list[Group] = field(default_factory=list)
    dropped: list[Group] = field(default_factory=list)  # flat, and replaced
    seconds: float = 0.0
    generating: float = 0.0  # until the last sample was there
    rewarding: float = 0.0  # and then until the last reward was

    @property
    def sampled(self) -> list[Group]:
        """All of them."""
        return [*self.groups, *self.dropped]

    @property
    def episodes(self) -> list[Episode]:
        """Of all groups."""
        return [episode for group in self.sampled for episode in group.episodes]


class Collector:
    """Lives in the event loop of rank 0."""

    def __init__(self, config: Config, engine: Engine, grader: Grader, next_prompts: Callable[[int], Sequence[Prompt]]):
        self._config = config
        self._engine = engine
        self._grader = grader
        self._next_prompts = next_prompts
        self._run = f"{config.name}.{secrets.token_hex(4)}"  # another run of this name asks for other samples
        self._begun = 0  # groups
        self._last_sample = 0.0

    async def batch(self) -> Batch:
        """The next. Raises what the engine and the service raise: TrainerError."""
        began = time.monotonic()
        batch = Batch()
        wanted = self._config.rollout.prompts
        left = wanted * (self._config.buffer.max_generations if self._config.buffer.drop_flat else 1)
        on_the_way: set[asyncio.Task[Group]] = set()
        try:
            while len(batch.groups) < wanted and (left or on_the_way):
                begun = min(left, wanted - len(batch.groups) - len(on_the_way))
                on_the_way |= {asyncio.create_task(self._group(each)) for each in self._prompts(begun)}
                left -= begun
                done, on_the_way = await asyncio.wait(on_the_way, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._sort(batch, task.result())
        finally:
            for task in on_the_way:
                task.cancel()
        batch.groups.sort(key=lambda group: group.number)  # not as they were finished, which is another way each time
        batch.seconds = time.monotonic() - began
        batch.generating = self._last_sample - began
        batch.rewarding = batch.seconds - batch.generating
        return batch

    def _sort(self, batch: Batch, group: Group) -> None:
        is_of_use = not (group.is_flat and self._config.buffer.drop_flat)
        (batch.groups if is_of_use else batch.dropped).append(group)

    def _prompts(self, count: int) -> Sequence[Prompt]:
        return self._next_prompts(count) if count > 0 else ()

    async def _group(self, prompt: Prompt) -> Group:
        self._begun += 1
        number = self._begun
        samples = [self._episode(prompt, number, each) for each in range(self._config.rollout.samples)]
        tasks = [asyncio.create_task(sample) for sample in samples]
        try:
            return replace(settle(await asyncio.gather(*tasks), self._config), number=number)
        finally:
            for task in tasks:
                task.cancel()

    async def _episode(self, prompt: Prompt, group: int, number: int) -> Episode:
        seed = random.Random(f"{self._config.seed}/{group}/{number}").getrandbits(31)  # noqa: S311 - no secret
        completion = await self._engine.generate(prompt.ids, seed)
        self._last_sample = time.monotonic()
        reward = await self._grader.grade(f"{self._run}.{group}.{number}", prompt, completion)
        return Episode(prompt, completion, reward)
