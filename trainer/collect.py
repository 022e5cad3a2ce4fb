"""Groups are begun as the weights allow, graded sample by sample, and handed out in batches.

There are never more groups outstanding (on their way, or finished and not taken) than `1 + buffer.depth` batches have,
and new ones are begun when new weights have come. So what is begun with one version of the weights is learnt from at
most `depth` versions later: with a depth of 0 nothing is sampled while a batch is learnt from; with 1 the next batch
is, and so on. Requests that are on their way when new weights come go on with them; a group is as old as its oldest
token.

A batch is of the groups that would be too old soonest. What would be too old by the next batch is waited for, so that
long responses are not the ones that get lost, or is dropped (`buffer.late`), and counted.

With dynamic sampling a group that teaches nothing makes room for another the moment it is known to be flat. What was
sampled in vain is counted.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from trainer.config import Config, Data
from trainer.engines.base import Engine
from trainer.episode import Episode, Group, Prompt
from trainer.reward import Grader, settle


class Source(Protocol):
    """Where prompts come from; see prompts.Prompts."""

    def at(self, data: Data) -> None:
        """From here on those that this says."""

    def take(self, count: int) -> Sequence[Prompt]:
        """The next."""

    def by_id(self, name: str) -> Prompt:
        """One that was taken before."""


@dataclass
class Batch:
    """Groups to train on, and what it took to get them since the batch before."""

    groups: list[Group] = field(default_factory=list)
    dropped: list[Group] = field(default_factory=list)  # flat
    expired: int = 0  # groups that were too old
    version: int = 0  # of the weights that will learn from it
    seconds: float = 0.0  # that were waited for it
    rewarding: float = 0.0  # of them, after its last sample was there
    sampling: float = 0.0  # in which anything was being sampled, whether waited for or not

    @property
    def sampled(self) -> list[Group]:
        """All of them."""
        return [*self.groups, *self.dropped]

    @property
    def episodes(self) -> list[Episode]:
        """Of all groups."""
        return [episode for group in self.sampled for episode in group.episodes]

    @property
    def staleness(self) -> int:
        """By how many versions its oldest token is older than the weights that learn from it."""
        return max((self.version - group.version for group in self.groups), default=0)


@dataclass(frozen=True)
class Begun:
    """A group that is on its way."""

    number: int
    prompt: Prompt
    version: int  # of the weights when it was begun


class Collector:
    """Lives in the event loop of rank 0."""

    def __init__(self, config: Config, engine: Engine, grader: Grader, prompts: Source) -> None:
        self._config = config
        self._engine = engine
        self._grader = grader
        self._prompts = prompts
        self._run = f"{config.name}.{secrets.token_hex(4)}"  # another run of this name asks for other samples
        self._begun = 0  # groups
        self._version = 0
        self._on_the_way: dict[asyncio.Task[Group], Begun] = {}
        self._ready: list[Group] = []
        self._again: list[Begun] = []  # that were on their way when the run was saved
        self._replacements = 0  # that may still be begun for flat groups
        self._trouble: BaseException | None = None
        self._changed = asyncio.Event()
        self._next = Batch()  # what is known of it by now
        self._busy = _Busy()

    # --- called by the leader

    async def begin(self, version: int, config: Config) -> None:
        """Begin what may be learnt from, now that vLLM has weights of this version. `config`: as it is from here on."""
        self._prompts.at(config.data)
        self._version, self._config = version, config
        self._replacements = config.rollout.prompts * (config.buffer.max_generations - 1)
        self._expire()
        for begun in self._again:
            self._start(begun)
        self._again = []
        batches = min(1 + config.buffer.depth, config.steps - version)  # what no step would learn from is not begun
        self._start_new(config.rollout.prompts * batches - len(self._on_the_way) - len(self._ready))

    async def batch(self) -> Batch:
        """The next. Raises what the engine and the service raise: TrainerError."""
        asked = time.monotonic()
        while not self._is_complete():
            self._changed.clear()
            await self._changed.wait()
        if self._trouble:
            raise self._trouble
        batch, self._next = self._next, Batch()
        self._ready.sort(key=_age)
        count = self._config.rollout.prompts
        taken, self._ready = self._ready[:count], self._ready[count:]
        batch.groups = [group for group in taken if not self._is_vain(group)]
        batch.dropped += [group for group in taken if self._is_vain(group)]  # and not replaced: the batch is smaller
        batch.version = self._version
        batch.seconds = time.monotonic() - asked
        batch.rewarding = min(batch.seconds, time.monotonic() - self._busy.last)
        batch.sampling = self._busy.take()
        return batch

    async def state(self) -> dict[str, Any]:
        """What `restore` needs, as JSON has it: groups that were not learnt from yet, also those on their way."""
        on_the_way = sorted([*self._on_the_way.values(), *self._again], key=lambda begun: begun.number)
        return {
            "begun": self._begun,
            "ready": [group.as_json() for group in self._ready],
            "on_the_way": [[begun.number, begun.prompt.id] for begun in on_the_way],
        }

    async def restore(self, state: Mapping[str, Any], version: int) -> None:
        """Go on from there at the next `begin`. What was on its way is begun again, with the same seeds."""
        self._begun = state["begun"]
        self._ready = [Group.from_json(each, self._prompts.by_id(each["prompt"])) for each in state["ready"]]
        self._again = [Begun(number, self._prompts.by_id(name), version) for number, name in state["on_the_way"]]

    async def close(self) -> None:
        """Forget what is on its way."""
        tasks = list(self._on_the_way)
        self._cancel(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- groups

    def _start_new(self, count: int) -> None:
        for prompt in self._prompts.take(max(count, 0)):
            self._begun += 1
            self._start(Begun(self._begun, prompt, self._version))

    def _start(self, begun: Begun) -> None:
        task = asyncio.create_task(self._group(begun, self._config))
        self._on_the_way[task] = begun
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Group]) -> None:
        self._on_the_way.pop(task, None)
        self._changed.set()
        if task.cancelled():
            return
        if trouble := task.exception():
            self._trouble = self._trouble or trouble
        elif self._is_vain(task.result()) and self._replacements:
            self._next.dropped.append(task.result())
            self._replacements -= 1
            self._start_new(1)
        else:
            self._ready.append(task.result())

    def _is_vain(self, group: Group) -> bool:
        return group.is_flat and self._config.buffer.drop_flat

    def _is_complete(self) -> bool:
        """Whether a batch can be taken: it is full, or nothing more is coming; and nothing it must have is missing."""
        if self._trouble:
            return True
        if self._config.buffer.late == "wait" and any(map(self._is_last_chance, self._on_the_way.values())):
            return False
        return len(self._ready) >= self._config.rollout.prompts or not self._on_the_way

    def _is_last_chance(self, begun: Begun) -> bool:
        """Whether it will be too old for the batch after the next."""
        return begun.version <= self._version - self._config.buffer.oldest

    def _expire(self) -> None:
        """Drop what is too old, and what will be when it is finished."""
        oldest = self._version - self._config.buffer.oldest
        fresh = [group for group in self._ready if group.version >= oldest]
        late = [task for task, begun in self._on_the_way.items() if begun.version < oldest]
        self._next.expired += len(self._ready) - len(fresh) + len(late)
        self._ready = fresh
        self._cancel(late)

    def _cancel(self, tasks: Sequence[asyncio.Task[Group]]) -> None:
        for task in tasks:
            self._on_the_way.pop(task)
            task.cancel()

    async def _group(self, begun: Begun, config: Config) -> Group:
        samples = [self._episode(begun, number, config) for number in range(config.rollout.samples)]
        tasks = [asyncio.create_task(sample) for sample in samples]
        try:
            return replace(settle(await asyncio.gather(*tasks), config), number=begun.number)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _episode(self, begun: Begun, number: int, config: Config) -> Episode:
        seed = random.Random(f"{config.seed}/{begun.number}/{number}").getrandbits(31)  # noqa: S311 - no secret
        with self._busy:
            completion = await self._engine.generate(begun.prompt.ids, seed, config.rollout.max_tokens)
        reward = await self._grader.grade(f"{self._run}.{begun.number}.{number}", begun.prompt, completion)
        return Episode(begun.prompt, completion, reward)


class _Busy:
    """For how long anything was done at all."""

    def __init__(self) -> None:
        self.last = time.monotonic()  # when something ended
        self._count = 0
        self._since = 0.0
        self._seconds = 0.0

    def __enter__(self) -> None:
        if not self._count:
            self._since = time.monotonic()
        self._count += 1

    def __exit__(self, *_: object) -> None:
        self.last = time.monotonic()
        self._count -= 1
        if not self._count:
            self._seconds += self.last - self._since

    def take(self) -> float:
        """Seconds since this was asked last."""
        now = time.monotonic()
        seconds = self._seconds + (now - self._since if self._count else 0.0)
        self._seconds, self._since = 0.0, now
        return seconds


def _age(group: Group) -> tuple[int, int]:
    """The soonest to be too old first; and not as they were finished, which is another way each time."""
    return group.version, group.number
