"""Compiles and runs driven submissions with the machine's own compilers, without a sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_service.languages import drivers
from sandbox_service.languages.compiler import INSIDE
from sandbox_service.languages.drivers import values
from sandbox_service.languages.drivers.values import Call, Results

WAIT_SECONDS = 300  # a guard against hanging


@dataclass(frozen=True)
class Toolchain:
    """Commands of a language; `{files}` stands for the names of all sources."""

    suffix: str
    compile: tuple[str, ...]
    run: tuple[str, ...]

    @property
    def missing(self) -> str | None:
        """The first program that is not installed."""
        return next(
            (each for each in (self.compile[0], self.run[0]) if not each.startswith("./") and not shutil.which(each)),
            None,
        )


PREPARE = ("node", "--experimental-vm-modules", "--no-warnings", str(INSIDE / "prepare.cjs"), "{files}")

TOOLCHAINS = {
    "cpp": Toolchain("cpp", ("g++", "-O1", "-std=gnu++17", "-w", "-o", "program", "{files}"), ("./program",)),
    "java": Toolchain(
        "java",
        ("javac", "-proc:none", "-nowarn", "-d", ".", "{files}"),
        ("java", "-XX:+UseSerialGC", "proctor.ProctorDriver"),
    ),
    "javascript": Toolchain("js", ("node", "--check", "{files}"), ("node", "solution.js")),
    "typescript": Toolchain("ts", PREPARE, ("node", "out/solution.js")),  # types are removed, and not checked
    "go": Toolchain("go", ("go", "build", "-o", "program", "{files}"), ("./program",)),
    "csharp": Toolchain(
        "cs",
        ("mcs", "-nologo", "-r:System.Numerics.dll", "-out:program.exe", "{files}"),
        ("mono", "program.exe"),
    ),
    "rust": Toolchain("rs", ("rustc", "--edition", "2021", "-O", "-o", "program", "{files}"), ("./program",)),
}


@dataclass(frozen=True)
class Run:
    """How a run ended, and what the driver wrote."""

    status: int
    results: Results
    stderr: str


class CompileError(Exception):
    """The compiler refused the files."""


class Bare:
    """A compiled submission with its driver."""

    def __init__(self, folder: Path, language: str, source: str, calls: Sequence[Call]) -> None:
        """Compile it.

        Raises CompileError with the compiler's words.
        """
        self._folder, self._tools = folder, TOOLCHAINS[language]
        self._driven = driven = drivers.driven(language, source, calls)
        main = "ProctorDriver.java" if language == "java" else f"solution.{self._tools.suffix}"
        sources = {main: driven.text, **driven.files}
        for name, text in sources.items():
            (folder / name).write_text(text)
        self._execute(self._tools.compile, b"", list(sources), check=True)

    def call(self, *calls: Call) -> Run:
        """Make calls in one process."""
        token = values.token()
        done = self._execute(self._tools.run, self._driven.stdin(token, calls), [])
        return Run(done.returncode, values.decode(token, done.stdout), done.stderr.decode("utf-8", "replace"))

    def _execute(
        self, command: Sequence[str], stdin: bytes, files: list[str], *, check: bool = False
    ) -> subprocess.CompletedProcess[bytes]:
        words = [word for each in command for word in (files if each == "{files}" else [each])]
        environment = {**os.environ, "GOCACHE": str(self._folder / "cache"), "GO111MODULE": "off"}
        done = subprocess.run(
            words,
            input=stdin,
            cwd=self._folder,
            env=environment,
            capture_output=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        if check and done.returncode:
            raise CompileError((done.stdout + done.stderr).decode("utf-8", "replace"))
        return done
