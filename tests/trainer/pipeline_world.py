"""Measures the speed-up of sampling ahead with simulated delays: `python -m tests.trainer.pipeline_world`.

Loop, collector and bounds are the trainer's; sampling, grading and training only sleep. With equal samples a batch
takes as long to sample and grade as to train on; with uneven ones (lognormal, the longest about four times the mean)
the mean is the same. The engine runs one batch concurrently.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from trainer.checkpoint import Checkpoint
from trainer.collect import Collector
from trainer.config import resolve
from trainer.episode import Completion, Prompt, Reward, Tally
from trainer.report import METRICS, Report, read
from trainer.rollouts import Rollouts
from trainer.train import Controller

STEPS = 30
PROMPTS, SAMPLES = 8, 8
SAMPLING, GRADING, LEARNING = 0.25, 0.05, 0.3  # seconds: of a sample, and of a batch
SIGMA = 0.6  # of uneven samples


class Slow:
    """Engine, grader, prompts, learner, policy, ranks and syncer: all that takes time, and nothing that is learnt."""

    size = 1
    needs_sync = False
    probe = (1, 1)

    def __init__(self, uneven: bool) -> None:
        self.version = -1
        self.policy = self
        self._uneven = uneven
        self._room = asyncio.Semaphore(PROMPTS * SAMPLES)
        self._given = 0

    async def generate(self, _: Sequence[int], seed: int, __: int) -> Completion:
        async with self._room:
            version = self.version
            factor = random.Random(seed).lognormvariate(-(SIGMA**2) / 2, SIGMA) if self._uneven else 1.0
            await asyncio.sleep(SAMPLING * factor)
            return Completion([1], [0.0], str(seed), False, version, self.version)

    async def grade(self, *_: object) -> Reward:
        await asyncio.sleep(GRADING)
        return Reward(random.random(), "AC")

    def select(self, _: object) -> None: ...

    def take(self, count: int) -> list[Prompt]:
        self._given += count
        return [Prompt(str(each), [1], {}) for each in range(self._given - count, self._given)]

    def broadcast(self, call: Any) -> Any:
        return call

    def execute(self, name: str, *_: object) -> Tally:
        if name == "learn":
            time.sleep(LEARNING)
        return Tally()

    def weights(self) -> Iterator[Any]:
        yield from ()

    def score(self, _: object) -> list[float]:
        return []

    def send(self, version: int, *_: object) -> Any:
        self.version = version
        return SimpleNamespace(bytes=0, gap=0.0, kind="full", density=1.0)


class Simulated(Controller):
    """With what is slow in place of what is big."""

    def __init__(self, slow: Any, *rest: Any) -> None:
        prompts: Any = SimpleNamespace(decode=str)
        super().__init__(rest[0], slow, slow, rest[1], prompts)
        self._slow = slow

    def _open(self, _: Checkpoint | None) -> None:
        self._engine = self._syncer = self._slow
        self._rollouts = Rollouts(self.config)
        self._ends.callback(self._rollouts.close)
        self._collector = Collector(self.config, self._slow, self._slow, self._slow)
        self._ends.callback(lambda: self._loop.do(self._collector.close()))


def run(depth: int, max_staleness: int | None, uneven: bool) -> tuple[float, float]:
    """Seconds a step, and the mean staleness, without the first steps, which fill the pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        config = resolve(
            {
                "model": {"path": "m"},
                "data": {"train": ["d"]},
                "out": folder,
                "steps": STEPS,
                "rollout": {"prompts": PROMPTS, "samples": SAMPLES},
                "buffer": {"depth": depth} | ({"max_staleness": max_staleness} if max_staleness else {}),
                "watch": {"tensorboard": False},
            }
        )
        report = Report(config)
        controller = Simulated(Slow(uneven), config, report)
        controller.run(None)
        controller.close()
        report.close()
        rows = read(config.folder / METRICS)[depth + 2 :]
    steps = rows[-1]["time"] - rows[0]["time"]
    return steps / (len(rows) - 1), sum(row["staleness"] for row in rows) / len(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.parse_args()
    print("depth  bound   even: s/step  faster  staleness   uneven: s/step  faster  staleness")
    first: dict[bool, float] = {}
    for depth, bound in ((0, None), (1, None), (1, 2), (2, None), (4, None), (4, 8)):
        said = f"{depth:5}  {bound or depth:5}"
        for uneven in (False, True):
            seconds, staleness = run(depth, bound, uneven)
            first.setdefault(uneven, seconds)
            said += f"{seconds:15.3f} {first[uneven] / seconds:7.2f} {staleness:10.2f}"
        print(said, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
