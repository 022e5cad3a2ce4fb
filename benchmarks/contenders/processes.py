"""Graders that start a process for every test, and the plainest of them: `python3`, and nothing around it."""

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
    """A command for every test. Subclasses say which."""

    def prepare(self, body: Body) -> list[Program]:
        return per_test(body)

    def grade(self, job: list[Program]) -> bool:
        return all(self.passes(program) for program in job)

    def passes(self, program: Program) -> bool:
        """Run one program in a process of its own; did it do what its test asks for?"""
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
        """What stands before the interpreter; `path` if the program is in a file."""
        return []

    def environment(self) -> dict[str, str]:
        """The program's environment."""
        return dict(os.environ) | {"OPENBLAS_NUM_THREADS": "1"}


class BarePython(ProcessPerTest):
    """`python3` started for every test, with no sandbox at all.

    Reproduces what many reward functions do with `subprocess.run`. Leaves out everything that would make it safe or
    fair: limits, isolation, a home of its own. It is what starting an interpreter costs, and no jail around a fresh
    interpreter can be cheaper.
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
