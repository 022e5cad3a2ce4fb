"""A run in which a process is killed at a given moment.

`python -m tests.trainer.killed VICTIM STEP:MOMENT,… CONFIG key=value…`

VICTIM is `trainer`, `vllm` (started by the run) or a file with a process id. A moment is `generate` (some samples of
the step are finished), `train` (between gradient and step), `sync` (some of the weights are sent), or `save` (half of a
checkpoint is written).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partialmethod
from pathlib import Path
from typing import Any
from unittest.mock import patch

from trainer import __main__
from trainer.collect import Collector
from trainer.engines.process import VllmProcess
from trainer.policy import Policy
from trainer.sync import Syncer
from trainer.train import Learner

BEFORE = 5  # so many samples are finished, or tensors sent


class Killer:
    """Kills once at each of its moments."""

    def __init__(self, victim: str, moments: str) -> None:
        self.victim = victim
        self.left = [(int(step), moment) for step, _, moment in (each.partition(":") for each in moments.split(","))]
        self.step = 0  # that was learnt from last
        self.finished = 0
        self.vllm: Any = None

    def at(self, moment: str, step: int) -> None:
        """If this is one."""
        if (step, moment) in self.left:
            self.left.remove((step, moment))
            print(f"killing {Path(self.victim).name} at {step}:{moment}", flush=True)
            self.kill()

    def kill(self) -> None:
        if self.victim == "trainer":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.victim == "vllm":
            os.killpg(self.vllm._process.pid, signal.SIGKILL)
        else:
            os.kill(int(Path(self.victim).read_text()), signal.SIGKILL)


def attach(killer: Killer) -> None:
    """To where its moments are."""
    for owner, name, watched in (
        (Collector, "_solution", _episode),
        (Policy, "_step", _step),
        (Policy, "save_model", _save),
        (Syncer, "send", _send),
        (Learner, "learn", _learn),
        (VllmProcess, "start", _start),
    ):
        patch.object(owner, name, partialmethod(watched, killer, getattr(owner, name))).start()


async def _episode(self: Any, killer: Killer, made: Any, begun: Any, *rest: Any) -> Any:
    episode = await made(self, begun, *rest)
    killer.finished += 1
    if killer.finished % BEFORE == 0:
        killer.at("generate", begun.version + 1)
    return episode


def _step(self: Any, killer: Killer, step: Any) -> Any:
    killer.at("train", killer.step)
    return step(self)


def _save(self: Any, killer: Killer, save: Any, folder: Path) -> None:
    killer.at("save", killer.step)
    save(self, folder)


def _send(self: Any, killer: Killer, send: Any, version: int, weights: Any, score: Any) -> Any:
    def passing() -> Iterator[Any]:
        for number, each in enumerate(weights):
            if number == BEFORE:
                killer.at("sync", version)
            yield each

    return send(self, version, passing(), score)


def _learn(self: Any, killer: Killer, learn: Any, groups: Any, step: int) -> Any:
    killer.step = step
    return learn(self, groups, step)


def _start(self: Any, killer: Killer, start: Any) -> None:
    killer.vllm = self
    start(self)


def main(arguments: Sequence[str]) -> int:
    attach(Killer(*arguments[:2]))
    return __main__.main(list(arguments[2:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
