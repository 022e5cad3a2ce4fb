"""Evaluates every checkpoint of a run once, as they appear.

RUN/evaluations/ has a folder for each checkpoint. It is done when there is a summary.json, and given up when there is a
failed.json, which can be deleted to retry. attempts.json counts failed attempts. An attempt continues the last one:
samples and verdicts are kept.

A scanner holds a lock (flock) on the folder it works on, which the kernel releases if the process dies. Several
scanners can therefore share the work, also on several machines if their file system supports flock.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.checkpoint import locked
from trainer.errors import TrainerError
from trainer.evaluation import page
from trainer.evaluation.checkpoints import CheckpointFinder, FoundCheckpoint
from trainer.evaluation.evaluation import PAGE, SUMMARY
from trainer.evaluation.jsonl import atomic_write

ATTEMPTS, FAILED, LOCK = "attempts.json", "failed.json", "lock"
CURVES = "evaluations.jsonl"
MOST_ATTEMPTS = 3
PAUSE_SECONDS = 60.0  # after the first failure; twice that after the second
ERROR_CHARACTERS = 4000

Evaluate = Callable[[FoundCheckpoint, Path], Awaitable[Any]]
Notice = Callable[[str], None]


@dataclass(frozen=True)
class Scanner:
    """Scans one run. `evaluate` evaluates a checkpoint into a folder, and raises TrainerError or OSError on failure."""

    checkpoints: CheckpointFinder
    folder: Path
    evaluate: Evaluate
    notice: Notice
    every_seconds: float = 30.0
    newest_first: bool = False
    pause_seconds: float = PAUSE_SECONDS

    async def run(self, once: bool = False) -> None:
        """Evaluate checkpoints until cancelled.

        Args:
            once: Return when nothing is left to do.
        """
        while True:
            while (due := self.due()) is not None:
                await self.attempt(due)
            if once and not self.has_more():
                return
            await asyncio.sleep(self.every_seconds)

    def due(self) -> FoundCheckpoint | None:
        """Return the next checkpoint: not done, given up, locked or waiting for a retry."""
        return next((each for each in self._open() if self._is_due(each)), None)

    def has_more(self) -> bool:
        """Return whether unfinished checkpoints remain that no other scanner has locked."""
        return bool(self.checkpoints.settling) or any(not is_locked(self._of(each)) for each in self._open())

    async def attempt(self, found: FoundCheckpoint) -> None:
        """Evaluate a checkpoint and record the outcome. A checkpoint that is deleted meanwhile is skipped.

        Args:
            found: The checkpoint.
        """
        folder = self._of(found)
        with locked(folder / LOCK) as is_ours:
            if not is_ours or not is_open(folder):
                return
            self.notice(f"{found.name}: evaluating")
            try:
                await self.evaluate(found, folder)
            except (TrainerError, OSError) as error:
                self._record_failure(found, folder, error)
            else:
                (folder / ATTEMPTS).unlink(missing_ok=True)
                self.notice(f"{found.name}: done")
                write_curves(self.folder)

    def _open(self) -> list[FoundCheckpoint]:
        found = [each for each in self.checkpoints.whole() if is_open(self._of(each))]
        return found[::-1] if self.newest_first else found

    def _is_due(self, found: FoundCheckpoint) -> bool:
        folder = self._of(found)
        return _attempts(folder)["again"] <= time.time() and not is_locked(folder)

    def _of(self, found: FoundCheckpoint) -> Path:
        return self.folder / found.name

    def _record_failure(self, found: FoundCheckpoint, folder: Path, error: Exception) -> None:
        if not found.is_there:
            self.notice(f"{found.name} was deleted and is skipped")
            return
        known = _attempts(folder)
        errors = [*known["troubles"], f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]]
        pause = self.pause_seconds * len(errors)
        _write(folder / ATTEMPTS, {"troubles": errors, "again": time.time() + pause})
        if len(errors) < MOST_ATTEMPTS:
            self.notice(f"{found.name}: attempt {len(errors)} failed, again in {pause:.0f} s: {error}")
        else:
            _write(folder / FAILED, {"troubles": errors})
            (folder / ATTEMPTS).unlink()
            self.notice(f"{found.name} failed {MOST_ATTEMPTS} times and is skipped ({folder / FAILED}): {error}")


def is_open(folder: Path) -> bool:
    """Return whether a checkpoint is neither done nor given up.

    Args:
        folder: Its evaluation folder.
    """
    return not (folder / SUMMARY).exists() and not (folder / FAILED).exists()


def is_locked(folder: Path) -> bool:
    """Return whether another process has locked a folder.

    Args:
        folder: The evaluation folder.
    """
    if not (folder / LOCK).exists():
        return False
    with locked(folder / LOCK) as is_ours:
        return not is_ours


def write_curves(folder: Path) -> None:
    """Write evaluations.jsonl and page.html from all summaries, one line a checkpoint, by step.

    They are rewritten each time, so that a killed scanner leaves no missing or repeated line.

    Args:
        folder: The folder of all evaluations.
    """
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # concurrent writers run one after the other
        found = [json.loads(path.read_text()) for path in folder.glob(f"*/{SUMMARY}")]
        summaries = sorted(found, key=lambda each: (each["step"], each["name"]))
        with atomic_write(folder / CURVES) as lines:
            lines.writelines(json.dumps(each) + "\n" for each in summaries)
        if summaries:
            with atomic_write(folder / PAGE) as text:
                text.write(page.render_curves(folder.resolve().parent.name, summaries))


def _attempts(folder: Path) -> dict[str, Any]:
    known: dict[str, Any] = {"troubles": [], "again": 0.0}
    with suppress(OSError, ValueError):
        known |= json.loads((folder / ATTEMPTS).read_text())
    return known


def _write(path: Path, said: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        json.dump(said, file, indent=2)
