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
from collections.abc import Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """How a run ended: its status (negative: the signal that killed it), and its output and errors."""

    status: int
    said: str


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
    with tempfile.NamedTemporaryFile() as log:
        process = _context().Process(target=_run, args=(module, list(arguments), log.name))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
        said = Path(log.name).read_text(errors="replace")
        assert process.exitcode is not None
        return Ended(process.exitcode, said)


def _run(module: str, arguments: list[str], log: str) -> None:
    fd = os.open(log, os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(fd, standard)
    os.chdir(ROOT)
    sys.argv = [module, *arguments]
    sys.exit(importlib.import_module(module).main(arguments))
