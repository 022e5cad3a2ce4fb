"""The loop: take a batch, learn from it, give vLLM the new weights, say how it went, and keep what was learnt.

Rank 0 leads. It speaks to vLLM and to the reward service in an event loop in a thread of its own, where samples go on
being made while it learns (`buffer.depth`), and tells the other ranks what to do next: `Order`. All that is collective
(a pass, a step, the gathering of weights) is done by all ranks upon an order, and nothing else is.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from trainer.advantage import advantages
from trainer.batch import collate, minibatches, pack, weights
from trainer.checkpoint import ENGINE, MODEL, Checkpoint, Checkpoints
from trainer.clock import Clock
from trainer.collect import Batch, Collector
from trainer.config import Config
from trainer.engines import start_engines
from trainer.episode import Group, MicroBatch, Row, Tally
from trainer.errors import ConfigError, StaleWeights
from trainer.figures import figures_of
from trainer.objective import Objective
from trainer.policy import Policy
from trainer.prompts import Prompts
from trainer.ranks import Ranks
from trainer.report import METRICS, Report
from trainer.reward import Grader
from trainer.sync import Syncer

T = TypeVar("T")

LOOK_SECONDS = 0.2  # how often the leader asks whether an engine that came back needs weights


@dataclass(frozen=True)
class Order:
    """What all ranks do next."""

    what: Literal["learn", "show", "keep", "save", "end"]
    step: int = 0
    groups: Sequence[Sequence[Row]] = ()
    probe: Sequence[int] = ()
    folder: Path = Path()


def run(config: Config) -> None:
    """Train. Raises TrainerError."""
    ranks = Ranks.join()
    checkpoint = ranks.tell(beginning(config, ranks.size) if ranks.is_leader else None)
    learner = Learner(config, Policy(config, ranks), ranks)
    if checkpoint:
        learner.policy.restore(checkpoint.engine)
    if ranks.is_leader:
        lead(config, learner, ranks, checkpoint)
    else:
        learner.follow()
        learner.policy.close()
    ranks.close()


def beginning(config: Config, ranks: int) -> Checkpoint | None:
    """Where to go on from, if not from nothing. Raises ConfigError."""
    if not config.checkpoint.resume:
        if (config.folder / METRICS).exists():
            raise ConfigError(
                f"{config.folder} has a run in it already: go on with it by checkpoint.resume=true, "
                "give this one another name, or remove that one"
            )
        return None
    checkpoint = Checkpoints(config.folder).newest(lambda text: print(text, file=sys.stderr))
    if checkpoint:
        check_same(checkpoint.state(), config, ranks)
    return checkpoint


def check_same(state: Mapping[str, Any], config: Config, ranks: int) -> None:
    """Whether DeepSpeed can go on with it. Raises ConfigError."""
    then, now = (state["ranks"], state["zero"]), (ranks, config.deepspeed.zero)
    if then != now:
        raise ConfigError(
            f"the checkpoint was made by {then[0]} ranks with deepspeed.zero = {then[1]}, and these are {now[0]} with "
            f"{now[1]}: go on as then, or begin a run of another name from its model (model.path = CHECKPOINT/model)"
        )


def lead(config: Config, learner: Learner, ranks: Ranks, checkpoint: Checkpoint | None) -> None:
    """What only rank 0 does. Raises TrainerError."""
    report = Report(config, checkpoint.step if checkpoint else 0)
    (config.folder / "config.json").write_text(config.model_dump_json(indent=2) + "\n")
    leader = Leader(config, learner, ranks, report)
    with ExitStack() as stack:
        stack.callback(report.close)
        stack.callback(leader.end)
        stack.callback(learner.policy.close)  # before: a colocated vLLM takes the process group with it
        stack.callback(ranks.tell, Order("end"))
        leader.lead(checkpoint)


class Learner:
    """What every rank does."""

    def __init__(self, config: Config, policy: Policy, ranks: Ranks) -> None:
        self._config = config
        self.policy = policy
        self._ranks = ranks
        self._objective = Objective.of(config)

    def follow(self) -> None:
        """Obey until the end."""
        order: Order
        while (order := self._ranks.tell()).what != "end":
            with suppress(OSError):  # rank 0 has it too, and says so
                self.obey(order)

    def obey(self, order: Order) -> Tally:
        """Do it; what was watched while learning. Raises OSError, on all ranks, for what could not be written."""
        if order.what == "learn":
            return self._learn(order.groups, self._config.at(order.step))
        if order.what == "keep":
            self.policy.keep(order.folder / ENGINE)
        if order.what in ("keep", "save"):
            self.policy.save(order.folder / MODEL)
        if order.what == "show":
            for _ in self.policy.weights():
                pass
            self.score(order.probe)
        return Tally()

    def score(self, ids: Sequence[int]) -> list[float]:
        """What the policy thinks of some tokens, all but the first, at temperature 1. Collective."""
        row = Row(ids, len(ids) - 1, [0.0] * (len(ids) - 1), 0.0)
        (scores,) = self.policy.score([collate([row], [0.0])], temperature=1.0)
        return [float(score) for score in scores]

    def _learn(self, groups: Sequence[Sequence[Row]], config: Config) -> Tally:
        """Some epochs over a batch. All log-probabilities to compare with are taken before the first step."""
        optimiser = config.optimiser
        steps = [self._mine(rows, config) for rows in minibatches(groups, optimiser.minibatches)]
        steps = [self._scored(micro) for micro in steps]
        tally = Tally()
        for epoch in range(optimiser.epochs):
            for number, micro in enumerate(steps):
                is_first = not (epoch or number)
                tally.join(self.policy.update(micro, self._objective, is_first, optimiser))
        return self._ranks.join_tallies(tally)

    def _mine(self, rows: Sequence[Row], config: Config) -> list[MicroBatch]:
        """This rank's share of a mini-batch, with weights that are of all of it."""
        shares = pack(rows, config.optimiser.micro_tokens, self._ranks.size)
        each = weights(rows, config.loss.mean, config.rollout.max_tokens)
        weight = {id(row): value for row, value in zip(rows, each, strict=True)}
        return [collate(mine, [weight[id(row)] for row in mine]) for mine in shares[self._ranks.rank]]

    def _scored(self, micro: list[MicroBatch]) -> list[MicroBatch]:
        if self._objective.needs_old:
            scores = self.policy.score(micro)
            micro = [replace(each, old=old) for each, old in zip(micro, scores, strict=True)]
        if self._objective.needs_reference:
            scores = self.policy.score_reference(micro)
            micro = [replace(each, reference=score) for each, score in zip(micro, scores, strict=True)]
        return micro


class Leader:
    """Rank 0, beside what it does as every rank."""

    def __init__(self, config: Config, learner: Learner, ranks: Ranks, report: Report) -> None:
        self._config = config
        self._learner = learner
        self._ranks = ranks
        self._report = report
        self._clock = Clock()
        self._checkpoints = Checkpoints(config.folder, config.checkpoint.keep, config.checkpoint.keep_every)
        self._version = 0
        self._loop = _Loop()
        self._ends = ExitStack()

    def lead(self, checkpoint: Checkpoint | None) -> None:
        """All steps that are not done yet."""
        done = checkpoint.step if checkpoint else 0
        self._version = done
        self._open(checkpoint)
        self._sync()
        self._begin(done + 1)
        self._clock.reset()
        for step in range(done + 1, self._config.steps + 1):
            batch = self._collect()
            tally = self._learn(batch, step)
            self._version += 1
            synced = self._sync()
            self._begin(step + 1)
            self._report.step(step, figures_of(batch) | tally.figures() | synced, self._clock)
            self._clock.reset()
            self._keep(step)  # what is kept has been told: its time is the next step's
        self._order(Order("save", folder=self._config.folder))

    def end(self) -> None:
        """Let go of everybody."""
        self._ends.close()
        self._loop.close()

    def _open(self, checkpoint: Checkpoint | None) -> None:
        """Read the data, then find vLLM and the service."""
        self._prompts = Prompts.of(self._config)
        self._report.notice(f"{len(self._prompts)} prompts; {self._prompts.left_out} more are too long")
        self._probe = self._prompts.first.ids
        grader = Grader(self._config, self._report.notice)
        self._ends.callback(lambda: self._loop.do(grader.close()))
        self._engine = self._loop.do(start_engines(self._config, self._report.notice))
        self._ends.callback(lambda: self._loop.do(self._engine.close()))
        self._collector = Collector(self._config, self._engine, grader, self._prompts)
        self._ends.callback(lambda: self._loop.do(self._collector.close()))
        self._syncer = Syncer.of(self._config, self._engine, self._loop.begin, self._probe, self._report.notice)
        self._ends.callback(self._syncer.close)
        if checkpoint:
            self._loop.do(self._restore(checkpoint))

    async def _restore(self, checkpoint: Checkpoint) -> None:
        state = checkpoint.state()
        self._prompts.restore(state["prompts"])
        await self._collector.restore(state["collector"], checkpoint.step)
        for line in changes(state["config"], self._config.model_dump(mode="json")):
            self._report.notice(f"not as when the checkpoint was made: {line}")
        self._report.notice(f"going on after step {checkpoint.step}")

    async def _state(self) -> dict[str, Any]:
        """All that a checkpoint holds and the ranks do not; of one moment, in which nothing is begun."""
        return {
            "ranks": self._ranks.size,
            "zero": self._config.deepspeed.zero,
            "config": self._config.model_dump(mode="json"),
            "prompts": self._prompts.state(),
            "collector": await self._collector.state(),
        }

    def _begin(self, step: int) -> None:
        """Have samples made that this step may learn from, and others after it."""
        if step <= self._config.steps:
            self._loop.do(self._collector.begin(self._version, self._config.at(step)))

    def _keep(self, step: int) -> None:
        """A checkpoint, if it is time; without room for it the run goes on."""
        every = self._config.checkpoint.every
        if not every or (step % every and step < self._config.steps):
            return
        with self._clock("save"):
            try:
                self._checkpoints.write(step, self._loop.do(self._state()), self._fill)
            except OSError as trouble:
                self._report.notice(f"no checkpoint of step {step}, and the run goes on: {trouble}")

    def _fill(self, folder: Path) -> None:
        self._order(Order("keep", folder=folder))

    def _collect(self) -> Batch:
        """The next batch; meanwhile, weights for an engine that came back without them."""
        coming = self._loop.begin(self._collector.batch())
        with self._clock("generate"):
            while not coming.done():
                wait([coming], LOOK_SECONDS)
                if self._engine.needs_sync and not coming.done():
                    self._sync()
        batch = coming.result()
        self._clock.move("generate", "wait", batch.rewarding)
        return batch

    def _learn(self, batch: Batch, step: int) -> Tally:
        groups = [rows_of(group, self._config.advantage.name) for group in batch.groups]
        if not any(not row.is_masked for rows in groups for row in rows):
            self._report.notice("nothing to learn from in this batch: all groups are flat or without rewards")
            return Tally()
        with self._clock("train"):
            tally = self._order(Order("learn", step=step, groups=groups))
        if not batch.staleness:  # what older weights sampled may well be off; the probe after each sync is not
            self._check_gap(tally)
        return tally

    def _check_gap(self, tally: Tally) -> None:
        """What vLLM said of its samples is what we say of them, or it did not have our weights."""
        gap, most = tally.figures().get("logprob_gap", 0.0), self._config.watch.gap_bound(self._config.model.dtype)
        if not gap <= most:
            raise StaleWeights(
                f"vLLM's log-probabilities of this batch are off by {gap:.2g} on average, more than {most:g} "
                "(watch.max_logprob_gap): it sampled with other weights, or computes them otherwise"
            )

    def _sync(self) -> dict[str, float]:
        """New weights for vLLM; again, if it went away meanwhile. What it took."""
        with self._clock("sync"):
            synced = None
            while synced is None:
                self._ranks.tell(Order("show", probe=self._probe))
                synced = self._syncer.send(self._version, self._learner.policy.weights(), self._learner.score)
        return {"sync_bytes": synced.bytes, "sync_density": synced.density, "probe_gap": synced.gap}

    def _order(self, order: Order) -> Tally:
        self._ranks.tell(order)
        return self._learner.obey(order)


def rows_of(group: Group, advantage: str) -> list[Row]:
    """What the policy trains on: what is masked goes along with no weight, so that all ranks have the same shapes."""
    worth = advantages(advantage, [None if each.is_masked else each.total for each in group.episodes])
    return [
        Row(
            ids=[*each.prompt.ids, *each.completion.ids],
            response=len(each.completion.ids),
            behaviour=each.completion.logprobs,
            advantage=0.0 if each.is_silenced else value,
            is_masked=each.is_masked,
        )
        for each, value in zip(group.episodes, worth, strict=True)
    ]


def changes(then: Mapping[str, Any], now: Mapping[str, Any], where: str = "") -> list[str]:
    """What two configurations say differently, but for how a run is started."""
    lines = []
    for key in sorted(then.keys() | now.keys()):
        old, new, name = then.get(key), now.get(key), f"{where}{key}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += changes(old, new, f"{name}.")
        elif old != new and name != "checkpoint.resume":
            lines.append(f"{name} was {old!r} and is {new!r}")
    return lines


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollouts", daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have it done; a concurrent future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Have it done, and wait for it."""
        return self.begin(work).result()

    def close(self) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
