"""The loop: collect a batch, learn from it, give vLLM the new weights, and say how it went.

Rank 0 leads. It speaks to vLLM and to the reward service in an event loop in a thread of its own, and tells the other
ranks what to do next: `Order`. All that is collective (a pass, a step, the gathering of weights) is done by all ranks
upon an order, and nothing else is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from trainer.advantage import advantages
from trainer.batch import collate, minibatches, pack, weights
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

    what: Literal["learn", "show", "save", "end"]
    groups: Sequence[Sequence[Row]] = ()
    probe: Sequence[int] = ()
    folder: str = ""


def run(config: Config) -> None:
    """Train. Raises TrainerError."""
    ranks = Ranks.join()
    learner = Learner(config, Policy(config, ranks), ranks)
    if ranks.is_leader:
        lead(config, learner, ranks)
    else:
        learner.follow()
        learner.policy.close()
    ranks.close()


def lead(config: Config, learner: Learner, ranks: Ranks) -> None:
    """What only rank 0 does. Raises TrainerError."""
    if (config.folder / METRICS).exists():
        raise ConfigError(f"{config.folder} has a run in it already: give this one another name, or remove that one")
    report = Report(config)
    (config.folder / "config.json").write_text(config.model_dump_json(indent=2) + "\n")
    leader = Leader(config, learner, ranks, report)
    with ExitStack() as stack:
        stack.callback(report.close)
        stack.callback(leader.end)
        stack.callback(learner.policy.close)  # before: a colocated vLLM takes the process group with it
        stack.callback(ranks.tell, Order("end"))
        leader.lead()


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
            self.obey(order)

    def obey(self, order: Order) -> Tally:
        """Do it; what was watched while learning."""
        if order.what == "learn":
            return self._learn(order.groups)
        if order.what == "save":
            self.policy.save(order.folder)
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

    def _learn(self, groups: Sequence[Sequence[Row]]) -> Tally:
        """Some epochs over a batch. All log-probabilities to compare with are taken before the first step."""
        optimiser = self._config.optimiser
        steps = [self._mine(rows) for rows in minibatches(groups, optimiser.minibatches)]
        steps = [self._scored(micro) for micro in steps]
        tally = Tally()
        for epoch in range(optimiser.epochs):
            for number, micro in enumerate(steps):
                tally.join(self.policy.update(micro, self._objective, is_first=not (epoch or number)))
        return self._ranks.join_tallies(tally)

    def _mine(self, rows: Sequence[Row]) -> list[MicroBatch]:
        """This rank's share of a mini-batch, with weights that are of all of it."""
        shares = pack(rows, self._config.optimiser.micro_tokens, self._ranks.size)
        each = weights(rows, self._config.loss.mean, self._config.rollout.max_tokens)
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
        self._version = 0
        self._loop = _Loop()
        self._ends = ExitStack()

    def lead(self) -> None:
        """All steps."""
        self._open()
        self._sync()
        for step in range(1, self._config.steps + 1):
            self._clock.reset()
            batch = self._collect()
            tally = self._learn(batch)
            self._version += 1
            self._sync()
            self._report.step(step, figures_of(batch) | tally.figures(), self._clock)
        self._order(Order("save", folder=str(self._config.folder / "model")))

    def end(self) -> None:
        """Let go of everybody."""
        self._ends.close()
        self._loop.close()

    def _open(self) -> None:
        """Read the data, then find vLLM and the service."""
        prompts = Prompts.of(self._config)
        self._report.notice(f"{len(prompts)} prompts; {prompts.left_out} more are too long")
        self._probe = prompts.first.ids
        grader = Grader(self._config, self._report.notice)
        self._ends.callback(lambda: self._loop.do(grader.close()))
        self._engine = self._loop.do(start_engines(self._config, self._report.notice))
        self._ends.callback(lambda: self._loop.do(self._engine.close()))
        self._collector = Collector(self._config, self._engine, grader, prompts.take)
        self._syncer = Syncer.of(self._config, self._engine, self._loop.begin, self._probe)
        self._ends.callback(self._syncer.close)

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

    def _learn(self, batch: Batch) -> Tally:
        groups = [rows_of(group, self._config.advantage.name) for group in batch.groups]
        if not any(not row.is_masked for rows in groups for row in rows):
            self._report.notice("nothing to learn from in this batch: all groups are flat or without rewards")
            return Tally()
        with self._clock("train"):
            tally = self._order(Order("learn", groups=groups))
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

    def _sync(self) -> None:
        """New weights for vLLM; again, if it went away meanwhile."""
        with self._clock("sync"):
            synced = None
            while synced is None:
                self._ranks.tell(Order("show", probe=self._probe))
                synced = self._syncer.send(self._version, self._learner.policy.weights(), self._learner.score)

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
