"""Runs other people's trainers unmodified, in interpreters of their own, against a real service.

A script of `inside/` runs there. It exchanges lines of JSON with the test and stays alive for a test module, because
the libraries take long to import. An environment variable names each library's interpreter; `make trainers` creates
them all. Tests of a missing library are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import pytest

INSIDE = Path(__file__).parent / "inside"
REPOSITORY = INSIDE.parents[2]
TIMEOUT_SECONDS = 240.0
END_SECONDS = 60.0
SHOWN = 6000  # characters of what it said before it failed


class Foreign:
    """A script that answers requests."""

    def __init__(self, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self._process = process
        self._errors = errors

    def ask(self, asked: object) -> Any:
        """Return the answer. Fail with the script's output if it ends instead or takes too long."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        guard = threading.Timer(TIMEOUT_SECONDS, self._process.kill)
        guard.start()
        try:
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            said = self._process.stdout.readline()
        finally:
            guard.cancel()
        if not said:
            self._errors.seek(0)
            raise AssertionError(f"it ended with {self._process.wait()}:\n{self._errors.read()[-SHOWN:]}")
        answer = json.loads(said)
        assert "said" in answer, answer["failed"]
        return answer["said"]


@contextmanager
def opened(library: str, script: str, **environment: str) -> Iterator[Foreign]:
    """Start a script of `inside/` in the library's interpreter, or skip if there is none."""
    command = [interpreter(library), str(INSIDE / f"{script}.py")]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=_environment() | environment,
        )
        with process:
            try:
                yield Foreign(process, errors)
            finally:
                _end(process)


def interpreter(library: str) -> str:
    """Return the interpreter that has the library, this one if it does; skip if there is none."""
    variable = f"PROCTOR_TEST_{library.upper().replace('-', '_')}_PYTHON"
    python = os.environ.get(variable) or (sys.executable if find_spec(library.replace("-", "_")) else None)
    if python is None:
        pytest.skip(f"{variable} is not set: `make trainers` makes an environment for {library}, and says what to set")
    if not os.access(python, os.X_OK):
        pytest.fail(f"{variable} names no interpreter: {python}")
    return python


def _end(process: subprocess.Popen[str]) -> None:
    """Close its stdin, at which it ends by itself."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(END_SECONDS)
    finally:
        process.kill()


def _environment() -> dict[str, str]:
    """Return the environment without variables of this interpreter, so that the repository's adapters are found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SANDBOX_", "PYTHON", "PROCTOR"))}
    quiet = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}
    return kept | quiet | {"PYTHONPATH": str(REPOSITORY)}
