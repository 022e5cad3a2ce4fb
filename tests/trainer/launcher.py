"""Runs a module's `main` in a new process that has torch, DeepSpeed and vLLM already.

Their import takes about 15 s of a processor. A server process imports them once and forks for each run; a run's state
ends with its process. Engines of their own process (`rollout.engine = "server"`) and torchrun start as usual.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

from tests.ports import free_port

ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """How a run ended: its status (negative: the signal that killed it), and its output and errors."""

    status: int
    said: str


class Running:
    """A run in a process of its own."""

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._log = tempfile.NamedTemporaryFile()  # noqa: SIM115 `end` closes it
        told = (module, list(arguments), self._log.name, dict(environment))
        self._process = _context().Process(target=_run, args=told)
        self._process.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def end(self, seconds: float) -> Ended:
        """Wait for the end; after so many seconds kill the process, as a guard against hanging."""
        with self._log:
            self._process.join(seconds)
            if self._process.exitcode is None:
                self._process.kill()
                self._process.join()
            said = Path(self._log.name).read_text(errors="replace")
            assert self._process.exitcode is not None
            return Ended(self._process.exitcode, said)


@cache
def _context() -> ForkServerContext:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported; several runs share the processors
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.trainer.preloaded"])
    return context


def launch(module: str, arguments: Sequence[str], seconds: float) -> Ended:
    """Call `main(arguments)` of a module, as `python -m MODULE ARGUMENTS…` does.

    Args:
        module: Its `main` takes the arguments and returns the exit status.
        arguments: The command line.
        seconds: A guard against hanging.

    Returns:
        How the run ended.
    """
    return Running(module, arguments, {}).end(seconds)


def start_ranks(module: str, arguments: Sequence[str], count: int) -> list[Running]:
    """Start a module's `main` on several ranks, with the variables that torchrun sets."""
    environment = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]
    return [Running(module, arguments, environment | rank) for rank in ranks]


def _run(module: str, arguments: list[str], log: str, environment: dict[str, str]) -> None:
    fd = os.open(log, os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(fd, standard)
    os.chdir(ROOT)
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    sys.exit(importlib.import_module(module).main(arguments))
