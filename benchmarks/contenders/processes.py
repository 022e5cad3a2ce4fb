"""Graders that start a process per test; the plainest of them is `python3` alone."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import ClassVar

from benchmarks.contenders.base import Contender
from benchmarks.programs import Program, per_test
from benchmarks.workloads import Body

INTERPRETER = os.environ.get("BENCH_PYTHON", "/usr/bin/python3")
ARGUMENT_CHARACTERS = 3072  # longer programs go by way of a file: firejail refuses long arguments
GIVE_UP_SECONDS = 60.0


class ProcessPerTest(Contender[list[Program]]):
    """A command for every test, which subclasses define."""

    def prepare(self, body: Body) -> list[Program]:
        return per_test(body)

    def grade(self, job: list[Program]) -> bool:
        return all(self.passes(program) for program in job)

    def passes(self, program: Program) -> bool:
        """Run a program in its own process; returns whether its result is the expected one."""
        with _source(program.source) as (arguments, path):
            done = subprocess.run(
                [*self.wrapper(path), INTERPRETER, *arguments],
                input=program.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self.environment(),
                timeout=GIVE_UP_SECONDS,
                check=False,
            )
        return program.accepts(done.returncode, done.stdout)

    def wrapper(self, path: str | None) -> list[str]:  # noqa: ARG002
        """Return the command before the interpreter; `path` is set if the program is in a file."""
        return []

    def environment(self) -> dict[str, str]:
        """Return the program's environment."""
        return dict(os.environ) | {"OPENBLAS_NUM_THREADS": "1"}


class BarePython(ProcessPerTest):
    """`python3` started for every test, without a sandbox.

    As many reward functions do with `subprocess.run`, without limits, isolation or a home of its own. It is the cost of
    starting an interpreter; no jail around a fresh interpreter can cost less.
    """

    label: ClassVar[str] = "python3 per test, no sandbox"


@contextlib.contextmanager
def _source(source: str) -> Iterator[tuple[list[str], str | None]]:
    """The interpreter's arguments for a program, and its file if it needs one."""
    if len(source) < ARGUMENT_CHARACTERS:
        yield ["-c", source], None
        return
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        yield [file.name], file.name
