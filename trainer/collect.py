"""Starts groups of samples, grades each sample, and assembles batches under a staleness bound.

At most `1 + buffer.depth` batches of groups are outstanding (running, or finished and not taken), and new groups start
only when new weights arrive. Requests in flight continue across a sync; a group is as old as its oldest token.

A batch takes the groups that expire first. Groups that would expire before the next batch are waited for, or dropped
(`buffer.late`) and counted. With dynamic sampling (DAPO, arXiv 2503.14476) a group whose rewards are all equal is
replaced as soon as it is known, and counted.
"""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainer.config import Config
from trainer.duel.opponent import Opponent
from trainer.duel.referee import EarlierPrograms, judge
from trainer.engines import Engine
from trainer.episode import Completion, Episode, Group, Prompt, Role
from trainer.prompts import Prompts
from trainer.reward import Grader, build_group


@dataclass
class Batch:
    """Groups to train on, and measurements since the previous batch."""

    groups: list[Group] = field(default_factory=list)
    dropped: list[Group] = field(default_factory=list)  # all rewards equal
    expired: int = 0  # groups dropped for their staleness
    version: int = 0  # of the weights that train on it
    reward_wait_seconds: float = 0.0  # that the controller waited after the last sample had ended

    @property
    def sampled(self) -> list[Group]:
        """All groups, the dropped ones included."""
        return [*self.groups, *self.dropped]

    @property
    def episodes(self) -> list[Episode]:
        return [episode for group in self.sampled for episode in group.episodes]

    @property
    def staleness(self) -> int:
        """The age of the oldest token, in versions of the weights."""
        return max((self.version - group.version for group in self.groups), default=0)


@dataclass(frozen=True)
class PendingGroup:
    """A group in flight."""

    number: int
    prompt: Prompt
    version: int  # of the weights at its start


class Collector:
    """Keeps groups in flight and returns batches. All methods run in rank 0's event loop."""

    def __init__(self, config: Config, engine: Engine, grader: Grader, prompts: Prompts) -> None:
        self._config = config
        self._engine = engine
        self._grader = grader
        self._opponent = Opponent(config) if config.duel.opponent else None
        self._earlier = EarlierPrograms(config.duel.earlier if config.duel.trains_tester else 0)
        self._prompts = prompts
        self._run = f"{config.name}.{secrets.token_hex(4)}"  # random part: ids differ between runs of one name
        self._started = 0  # groups
        self._version = 0
        self._in_flight: dict[asyncio.Task[Group], PendingGroup] = {}
        self._ready: list[Group] = []
        self._to_restart: list[PendingGroup] = []  # in flight at the checkpoint, to be started again
        self._replacements = 0  # groups that may still be started in place of flat ones
        self._error: BaseException | None = None
        self._changed = asyncio.Event()
        self._next = Batch()  # the batch being assembled
        self._last_sample = time.monotonic()  # when one ended

    async def begin(self, version: int, config: Config) -> None:
        """Start groups after a sync of a new version, by the configuration of the step that trains next."""
        self._prompts.select(config.data)
        self._version, self._config = version, config
        self._replacements = config.rollout.prompts * (config.buffer.max_generations - 1) - len(self._next.dropped)
        oldest = version - config.buffer.oldest  # groups that are too old, or will be when they finish, are dropped
        fresh = [group for group in self._ready if group.version >= oldest]
        late = [task for task, pending in self._in_flight.items() if pending.version < oldest]
        self._next.expired += len(self._ready) - len(fresh) + len(late)
        self._ready = fresh
        self._cancel(late)
        for pending in self._to_restart:
            self._start(pending)
        self._to_restart = []
        batches = min(1 + config.buffer.depth, config.steps - version)  # none beyond the last step
        self._start_new(config.rollout.prompts * batches - len(self._in_flight) - len(self._ready))

    async def batch(self) -> Batch:
        """Return the next batch when it is complete. Errors of the engine and the reward service are raised here."""
        asked = time.monotonic()
        await self._until(self._is_complete)
        if self._error:
            raise self._error
        batch, self._next = self._next, Batch()
        self._ready.sort(key=_age)
        count = self._config.rollout.prompts
        taken, self._ready = self._ready[:count], self._ready[count:]
        for group in taken:  # where no replacements are left the batch is smaller
            (batch.dropped if self._is_discarded(group) else batch.groups).append(group)
        for group in sorted(batch.sampled, key=_age):
            self._earlier.add(group)
        batch.version = self._version
        batch.reward_wait_seconds = time.monotonic() - max(asked, self._last_sample)
        return batch

    async def drain(self) -> None:
        """Wait until no group is in flight, for `buffer.in_flight = "finish"`. An error is left to `batch`."""
        await self._until(lambda: not self._in_flight)

    async def state(self) -> tuple[dict[str, Any], list[Group]]:
        """Return the groups that are in no batch yet, for `restore`: JSON-compatible data, and finished groups."""
        unfinished = sorted([*self._in_flight.values(), *self._to_restart], key=lambda pending: pending.number)
        on_the_way = [[pending.number, pending.prompt.id] for pending in unfinished]
        dropped = self._next.dropped
        state = {"begun": self._started, "on_the_way": on_the_way, "earlier": self._earlier.state()}
        return state | {"dropped": len(dropped)}, [*self._ready, *dropped]

    async def restore(self, state: Mapping[str, Any], finished: Sequence[Group], version: int) -> None:
        """Load the two results of `state`, at a version. The next `begin` restarts groups that were not finished."""
        ready = len(finished) - state["dropped"]
        self._started, self._ready, self._next.dropped = state["begun"], [*finished[:ready]], [*finished[ready:]]
        self._earlier.restore(state["earlier"])
        self._to_restart = [
            PendingGroup(number, self._prompts.by_id(name), version) for number, name in state["on_the_way"]
        ]

    async def close(self) -> None:
        tasks = list(self._in_flight)
        self._cancel(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._opponent:
            await self._opponent.close()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        """Wait until a condition holds, or a group failed."""
        while not (self._error or is_so()):
            self._changed.clear()
            await self._changed.wait()

    def _start_new(self, count: int) -> None:
        for prompt in self._prompts.take(max(count, 0)):
            self._started += 1
            self._start(PendingGroup(self._started, prompt, self._version))

    def _start(self, pending: PendingGroup) -> None:
        task = asyncio.create_task(self._group(pending, self._config, self._earlier.of(pending.prompt.id)))
        self._in_flight[task] = pending
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Group]) -> None:
        self._in_flight.pop(task, None)
        self._changed.set()
        if task.cancelled():
            return
        if error := task.exception():
            self._error = self._error or error
        elif self._is_discarded(task.result()) and self._replacements > 0:
            self._next.dropped.append(task.result())
            self._replacements -= 1
            self._start_new(1)
        else:
            self._ready.append(task.result())

    def _is_discarded(self, group: Group) -> bool:
        return group.is_flat and self._config.buffer.drop_flat

    def _is_complete(self) -> bool:
        """Return whether a batch is full, or nothing more in flight, and no group on its last chance is missing."""
        buffer, pending = self._config.buffer, self._in_flight.values()
        if buffer.in_flight == "finish" and self._is_overtaken():
            return False
        if buffer.late == "wait" and any(each.version <= self._version - buffer.oldest for each in pending):
            return False
        return len(self._ready) >= self._config.rollout.prompts or not pending

    def _is_overtaken(self) -> bool:
        """Return whether a group of the next batch, in the order of their start, is still in flight."""
        unfinished = [pending.number for pending in self._in_flight.values()]
        first = sorted([*unfinished, *(group.number for group in self._ready)])[: self._config.rollout.prompts]
        return any(number in first for number in unfinished)

    def _cancel(self, tasks: Sequence[asyncio.Task[Group]]) -> None:
        for task in tasks:
            self._in_flight.pop(task)
            task.cancel()

    async def _group(self, pending: PendingGroup, config: Config, earlier: Sequence[str]) -> Group:
        """Sample and grade a group: solutions, and in a duel the testers' answers."""
        count = config.rollout.samples
        work: list[Coroutine[Any, Any, Any]] = [
            *(self._solution(pending, number, config) for number in range(count)),
            *(self._sample(pending, "tester", number, config) for number in range(config.duel.testers)),
        ]
        tasks = [asyncio.create_task(each) for each in work]
        try:
            sampled = await asyncio.gather(*tasks)
            name = f"{self._run}.{pending.number}"
            solutions, answers = sampled[:count], sampled[count:]
            judged = await judge(config.duel, self._grader, name, solutions, answers, earlier)
            return replace(build_group([*solutions, *judged], config), number=pending.number)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _solution(self, pending: PendingGroup, number: int, config: Config) -> Episode:
        completion = await self._sample(pending, "solver", number, config)
        reward = await self._grader.grade(f"{self._run}.{pending.number}.{number}", pending.prompt, completion)
        return Episode(pending.prompt, completion, reward)

    async def _sample(self, pending: PendingGroup, role: Role, number: int, config: Config) -> Completion:
        """Return a sample of the trained policy, or of the opponent if the role is not trained."""
        name = str(number) if role == "solver" else f"{role}.{number}"
        seed = random.Random(f"{config.seed}/{pending.number}/{name}").getrandbits(31)  # noqa: S311 - no secret
        prompt = pending.prompt.tester if role == "tester" else pending.prompt
        assert prompt is not None, "in a duel every prompt has its tester's"
        if self._opponent and role != config.duel.trains:
            made = await self._opponent.generate(prompt, seed)
        else:
            made = await self._engine.generate(prompt.ids, seed, config.room(len(prompt.ids)))
        self._last_sample = time.monotonic()
        return made


def _age(group: Group) -> tuple[int, int]:
    """Sort key: oldest first, then by number, which makes batches independent of completion order."""
    return group.version, group.number
