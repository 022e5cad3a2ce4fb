"""The training loop. In short:

    sync weights to vLLM
    for each step:
        wait for a batch of groups, which are sampled and graded meanwhile     collect.py
        rows = their tokens with advantages                                    batch.py
        for each epoch and mini-batch: gradient of the objective, one step     Learner, policy.py, objective.py
        sync weights to vLLM and verify them                                   sync/
        report, checkpoint

`Learner` is the part that all ranks run, `Controller` that of rank 0. The controller talks to vLLM and to the reward
service from an event loop in a separate thread, where samples for later batches continue while the policy trains
(`buffer.depth`). Before each collective operation (forward pass, optimiser step, gathering of weights) it broadcasts to
all ranks the name and the arguments of a method of `Learner`; ranks run nothing collective without that.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from trainer.batch import collate, minibatches, pack, trained_episodes, training_rows, weights
from trainer.checkpoint import LOCK, MODEL, Checkpoint, Checkpoints, find_checkpoint, locked, read_groups, write_groups
from trainer.collect import Batch, Collector
from trainer.config import Config, logprob_bound
from trainer.engines import start_engines
from trainer.episode import Group, MicroBatch, Prompt, Row, Tally
from trainer.errors import ConfigError, StaleWeightsError, UnavailableError, WriteError
from trainer.held_out import HeldOut, held_out_prompts
from trainer.metrics import batch_metrics
from trainer.objective import Objective
from trainer.policy import Policy, learning_rate
from trainer.prompts import Prompts
from trainer.ranks import Ranks
from trainer.report import Clock, Report
from trainer.reward import Grader, check_service
from trainer.rollouts import Rollouts
from trainer.sync import Syncer

T = TypeVar("T")

SYNC_POLL_SECONDS = 0.2  # how often the controller checks whether a restarted engine needs weights
MOST_SYNCS = 5  # tries of one sync, which a restart of vLLM interrupts


def run(config: Config) -> None:
    """Train a model. Raise TrainerError if the run cannot continue; the message says what to change."""
    checkpoint, ranks = None, Ranks.join()
    if config.rollout.engine == "colocated" and ranks.size > 1:
        raise ConfigError(f"rollout.engine = 'colocated' is for one rank, and there are {ranks.size}: use servers")
    with ExitStack() as ends:  # the last one is called first
        if ranks.is_leader:  # errors in files and services are found before minutes of loading
            if not ends.enter_context(locked(config.folder / LOCK)):
                raise ConfigError(f"another run uses {config.folder}: wait for it, or choose another name")
            checkpoint = find_checkpoint(config, ranks.size)
            prompts, held_out = Prompts.of(config), held_out_prompts(config)
            if checkpoint:
                prompts.mixture.restore(checkpoint.state()["prompts"])
            report = Report(config, checkpoint.step if checkpoint else 0)
            ends.callback(report.close)
            asyncio.run(check_service(config, prompts.first, report.notice))
        checkpoint = ranks.broadcast(checkpoint)
        learner = Learner(config, Policy(config, ranks), ranks)
        if checkpoint:
            learner.policy.restore(checkpoint.path)
        if ranks.is_leader:
            controller = Controller(config, learner, ranks, report, prompts, held_out)
            ends.callback(controller.close)
        ends.callback(learner.policy.close)  # before a colocated vLLM, which destroys the process group
        if ranks.is_leader:
            ends.callback(ranks.broadcast)
            (config.folder / "config.json").write_text(config.model_dump_json(indent=2) + "\n")
            controller.run(checkpoint)
        else:
            learner.follow()
    ranks.close()


@dataclass(frozen=True)
class Learner:
    """The part of the loop that runs on every rank. All methods are collective."""

    config: Config
    policy: Policy
    ranks: Ranks

    @cached_property
    def objective(self) -> Objective:
        return Objective.of(self.config)

    def follow(self) -> None:
        """Execute rank 0's calls until it broadcasts None."""
        call: Sequence[Any] | None
        while call := self.ranks.broadcast():
            with suppress(WriteError):  # rank 0 gets the same error and reports it
                self.execute(*call)

    def execute(self, name: str, *arguments: Any) -> Any:
        """Call a method by its name with arguments. A WriteError is raised on all ranks."""
        return getattr(self, name)(*arguments)

    def save(self, folder: Path, with_state: bool = True) -> None:
        """Write the model to a folder, and what a checkpoint has besides (with_state)."""
        if with_state:
            self.policy.save_state(folder)
        self.policy.save_model(folder / MODEL)

    def sync(self, probe: Sequence[int]) -> None:
        """Take part in a sync that rank 0 makes with `weights` and the `score` of a probe of tokens."""
        deque(self.weights(), maxlen=0)
        self.score(probe)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the weights for vLLM; with `sync.delta` the adapters apart."""
        return self.policy.weights(apart=self.config.sync.delta)

    def score(self, ids: Sequence[int]) -> list[float]:
        """Return the policy's log-probabilities of tokens (ids [n]) but the first, at temperature 1."""
        row = Row(ids, len(ids) - 1, [0.0] * (len(ids) - 1), 0.0)
        (scores,) = self.policy.score([collate([row], [0.0])], temperature=1.0)
        return [float(score) for score in scores]

    def learn(self, groups: Sequence[Sequence[Row]], step: int) -> Tally:
        """Return the tally of all ranks after all epochs over the groups of a step.

        Reference and old log-probabilities are computed before the first optimiser step.
        """
        config = self.config.at(step)
        optimiser = config.optimiser
        split = minibatches(groups, optimiser.minibatches, optimiser.minibatch_prompts)
        steps = [self._scored(self._own_share(rows, config), not number) for number, rows in enumerate(split)]
        lr, tally = learning_rate(optimiser, step, config.steps), Tally()
        for number, micro in enumerate(steps * optimiser.epochs):
            tally.merge(self.policy.update(micro, self.objective, number == 0, lr))
        self.policy.release_memory()
        return Tally().merge(*self.ranks.gather(tally))

    def _own_share(self, rows: Sequence[Row], config: Config) -> list[MicroBatch]:
        """Return this rank's micro-batches; weights are normalised over the whole mini-batch."""
        sharing = config.deepspeed.sequence_parallel  # ranks with the same rows
        shares = pack(rows, config.optimiser.micro_tokens, self.ranks.size // sharing)
        full = config.optimiser.minibatch_prompts * config.group_size
        each = weights(rows, config.loss.mean, config.rollout.max_tokens, full)
        weight = {id(row): value for row, value in zip(rows, each, strict=True)}
        return [collate(mine, [weight[id(row)] for row in mine]) for mine in shares[self.ranks.rank // sharing]]

    def _scored(self, micro: list[MicroBatch], is_first: bool) -> list[MicroBatch]:
        """Return micro-batches with the log-probabilities that the objective needs and no pass of `update` gives."""
        if self.objective.needs_old and not (is_first and self.config.optimiser.epochs == 1):
            scores = self.policy.score(micro)
            micro = [replace(each, old=old) for each, old in zip(micro, scores, strict=True)]
        if self.objective.needs_reference:
            scores = self.policy.score(micro, by_reference=True)
            micro = [replace(each, reference=score) for each, score in zip(micro, scores, strict=True)]
        return micro


@dataclass
class Controller:
    """The part of the loop that runs on rank 0 only."""

    config: Config
    learner: Learner
    ranks: Ranks
    report: Report
    prompts: Prompts
    held_out_prompts: Sequence[Prompt] = ()

    def __post_init__(self) -> None:
        self._clock = Clock()
        self._version = 0
        self._loop = _EventLoopThread()
        self._ends = ExitStack()

    def run(self, checkpoint: Checkpoint | None) -> None:
        """Run all steps that are not done yet, after the checkpoint if there is one."""
        self._version = done = checkpoint.step if checkpoint else 0
        self._open(checkpoint)
        self._sync()
        self._start_sampling(done + 1)
        self._clock.reset()
        for step in range(done + 1, self.config.steps + 1):
            batch = self._collect()
            tally = self._learn(batch, step)
            self._version += 1
            if self.config.buffer.in_flight == "finish":
                with self._clock("generate"):
                    self._wait_for(self._collector.drain())
            synced = self._sync()
            held_out = self._evaluate(step)
            self._start_sampling(step + 1)
            self.report.step(step, batch_metrics(batch) | tally.metrics() | synced | held_out, self._clock)
            self._clock.reset()
            self._save_checkpoint(step)  # after the report: its time counts for the next step
        self._execute("save", self.config.folder, False)

    def close(self) -> None:
        self._ends.close()
        self._loop.close()

    def _open(self, checkpoint: Checkpoint | None) -> None:
        config, notice = self.config, self.report.notice
        notice(f"{len(self.prompts)} prompts; {self.prompts.problems.left_out} skipped: too long")
        notice(f"attention: {self.learner.policy.attention} (model.attention)")
        grader = Grader(config, notice)
        self._ends.callback(lambda: self._loop.do(grader.close()))
        self._engine = self._loop.do(start_engines(config, notice))
        self._ends.callback(lambda: self._loop.do(self._engine.close()))
        self._collector = Collector(config, self._engine, grader, self.prompts)
        self._ends.callback(lambda: self._loop.do(self._collector.close()))
        self._held_out = HeldOut(self._engine, grader, self.held_out_prompts)
        self._rollouts = Rollouts(config, self._version, notice)
        self._ends.callback(self._rollouts.close)
        self._syncer = Syncer(config, self._engine, self._loop.begin, self.prompts.probe, notice)
        self._ends.callback(self._syncer.close)
        if checkpoint:
            self._loop.do(self._restore(checkpoint))

    async def _restore(self, checkpoint: Checkpoint) -> None:
        state = checkpoint.state()
        ready = await asyncio.to_thread(read_groups, checkpoint.path, self.prompts.by_id)
        await self._collector.restore(state["collector"], ready, checkpoint.step)

    def _evaluate(self, step: int) -> dict[str, float]:
        if not self.config.held_out.is_due(step, self.config.steps):
            return {}
        with self._clock("evaluate"):
            return self._wait_for(self._held_out.figures(self._version, self.config.at(step)))

    def _start_sampling(self, step: int) -> None:
        """Start the samples that this step and later ones may train on."""
        if step <= self.config.steps:
            self._loop.do(self._collector.begin(self._version, self.config.at(step)))

    def _save_checkpoint(self, step: int) -> None:
        """Write a checkpoint if one is due. An OSError (no space left, say) is reported and the run continues."""
        settings = self.config.checkpoint
        if not settings.every or (step % settings.every and step < self.config.steps):
            return
        with self._clock("save"):
            positions, ready = self._loop.do(self._state())
            state = {"ranks": self.ranks.size, "config": self.config.model_dump(mode="json"), **positions}

            def fill(folder: Path) -> None:
                write_groups(folder, ready)
                self._execute("save", folder)

            try:
                Checkpoints(self.config.folder, settings.keep, settings.keep_every).write(step, state, fill)
            except OSError as error:
                self.report.notice(f"checkpoint of step {step} could not be written, the run continues: {error}")

    async def _state(self) -> tuple[dict[str, Any], list[Group]]:
        """Return the states of prompts and collector, taken while no group is started, and the finished groups."""
        collector, ready = await self._collector.state()
        return {"prompts": self.prompts.mixture.state(), "collector": collector}, ready

    def _collect(self) -> Batch:
        with self._clock("generate"):
            batch = self._wait_for(self._collector.batch())
        self._clock.count_as_wait(batch.reward_wait_seconds)
        return batch

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine that samples. Meanwhile, sync weights to an engine that was restarted."""
        coming = self._loop.begin(work)
        while not coming.done():
            wait([coming], SYNC_POLL_SECONDS)
            if self._engine.needs_sync and not coming.done():
                self._sync()
        return coming.result()

    def _learn(self, batch: Batch, step: int) -> Tally:
        trained = trained_episodes(batch.groups, self.config)
        self._rollouts.write(step, batch, trained, self.prompts.decode)
        groups = training_rows(trained)
        if not any(groups):
            self.report.notice("no update in this step: all groups have equal rewards or no verdicts")
            return Tally()
        with self._clock("train"):
            if self.config.rollout.turns:
                self._loop.do(self._engine.sleep())
            tally: Tally = self._execute("learn", groups, step)
        if not batch.staleness:  # samples of older weights differ legitimately; the probe after each sync covers those
            self._check_gap(tally)
        return tally

    def _check_gap(self, tally: Tally) -> None:
        """Compare vLLM's log-probabilities of the batch with the trainer's. Raises StaleWeightsError."""
        gap = tally.metrics().get("logprob_gap", 0.0)
        most = logprob_bound(self.config.watch.max_logprob_gap, self.config.model.dtype)
        if not gap <= most:
            raise StaleWeightsError(
                f"vLLM's log-probabilities of this batch differ by {gap:.2g} on average, more than {most:g} "
                "(watch.max_logprob_gap): vLLM sampled with other weights or computes log-probabilities differently"
            )

    def _sync(self) -> dict[str, float]:
        """Sync the weights to vLLM, again if it was restarted meanwhile, and return the figures of the sync."""
        with self._clock("sync"):
            for _ in range(MOST_SYNCS):
                self.ranks.broadcast(("sync", self._syncer.probe))
                if synced := self._syncer.send(self._version, self.learner.weights(), self.learner.score):
                    return {"sync_bytes": synced.bytes, "sync_density": synced.density, "probe_gap": synced.gap}
        raise UnavailableError(f"{MOST_SYNCS} syncs of version {self._version} were interrupted: see the lines above")

    def _execute(self, *call: Any) -> Any:
        self.ranks.broadcast(call)
        return self.learner.execute(*call)


class _EventLoopThread:
    """An event loop in a thread of its own. At its end tasks that are left are cancelled, such as a start of vLLM."""

    def __init__(self) -> None:
        running = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()

        async def run() -> None:
            running.set_result((asyncio.get_running_loop(), end := asyncio.Event()))
            await end.wait()

        self._thread = threading.Thread(target=lambda: asyncio.run(run()), name="rollouts", daemon=True)
        self._thread.start()
        self._loop, self._end = running.result()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.begin(work).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
