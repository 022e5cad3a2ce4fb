"""Judge0's way: a box of isolate, the sandbox of the IOI, for every test."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

from benchmarks.contenders.base import UnavailableError
from benchmarks.contenders.processes import INTERPRETER, ProcessPerTest
from benchmarks.programs import Program

BOXES = 1000  # that isolate has by default
CPU_SECONDS, EXTRA_SECONDS, WALL_SECONDS, MEMORY_KIB, PROCESSES, FILE_KIB = 5, 1, 10, 128_000, 60, 1024


class IsolatePerTest(ProcessPerTest):
    """`isolate --init`, `--run` and `--cleanup` for every test, as a worker of Judge0 does for every submission.

    A submission of Judge0 is one program with one input. The limits are Judge0's defaults, per process and without
    control groups. The program is started by a shell script in the box. Leaves out, to its advantage, Judge0's
    database, queue and HTTP.
    """

    label: ClassVar[str] = "isolate per test (Judge0's way)"

    def start(self) -> None:
        """Make a box. Raises UnavailableError."""
        if shutil.which("isolate") is None:
            raise UnavailableError("isolate is not installed")
        self._number = str(os.getpid() % BOXES)
        try:
            self._open()
            self._isolate("--cleanup")
        except subprocess.CalledProcessError as error:
            raise UnavailableError(f"isolate: {error.stderr.decode(errors='replace').strip()}") from error

    def passes(self, program: Program) -> bool:
        """See ProcessPerTest."""
        box = self._open()
        try:
            (box / "script.py").write_text(program.source)
            (box / "run").write_text(f"{INTERPRETER} script.py\n")
            done = subprocess.run(
                [*self._command(), *self._limits(), "--run", "--", "/bin/bash", "run"],
                input=program.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        finally:
            self._isolate("--cleanup")
        return program.accepts(done.returncode, done.stdout)

    def _open(self) -> Path:
        """Make the box. Return the folder that is the program's."""
        return Path(self._isolate("--init").decode().strip()) / "box"

    def _isolate(self, action: str) -> bytes:
        return subprocess.run([*self._command(), action], capture_output=True, check=True).stdout

    def _command(self) -> list[str]:
        return ["isolate", "-b", self._number]

    def _limits(self) -> list[str]:
        times = ["-t", str(CPU_SECONDS), "-x", str(EXTRA_SECONDS), "-w", str(WALL_SECONDS)]
        sizes = ["-m", str(MEMORY_KIB), f"-p{PROCESSES}", "-f", str(FILE_KIB)]
        return ["-s", *times, *sizes, "-E", "HOME=/tmp", "-E", "PATH=/usr/bin:/bin", "-d", "/etc:noexec"]
