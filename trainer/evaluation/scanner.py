"""Every checkpoint of a run is evaluated once: as they come, in order, and whatever happens meanwhile.

In RUN/evaluations/ each checkpoint has a folder of its name. It is done when there is a summary.json in it, and given
up when there is a failed.json, which can be removed to have it tried again. In between, attempts.json knows how often
it was tried. An attempt begins where the last one ended, for samples and verdicts are kept.

Whoever works on a checkpoint holds a lock on its folder, which the kernel takes back if he dies. So several scanners,
also on several machines if their file system locks, share the work.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.errors import TrainerError
from trainer.evaluation import page
from trainer.evaluation.checkpoints import Checkpoints, Found
from trainer.evaluation.evaluation import PAGE, SUMMARY
from trainer.evaluation.journal import replaced

ATTEMPTS, FAILED, LOCK = "attempts.json", "failed.json", "lock"
CURVES = "evaluations.jsonl"
MOST_ATTEMPTS = 3
PAUSE_SECONDS = 60.0  # after the first failure; twice that after the second
TROUBLE_SHOWN = 4000

Evaluate = Callable[[Found, Path], Awaitable[Any]]
Notice = Callable[[str], None]


@dataclass(frozen=True)
class Scanner:
    """Of one run. `evaluate` evaluates a checkpoint into a folder, and raises TrainerError or OSError if it cannot."""

    checkpoints: Checkpoints
    folder: Path
    evaluate: Evaluate
    notice: Notice
    every_seconds: float = 30.0
    newest_first: bool = False
    pause_seconds: float = PAUSE_SECONDS

    async def run(self, once: bool = False) -> None:
        """For ever, until it is cancelled; or `once`, until nothing is left to do."""
        while True:
            while (due := self.due()) is not None:
                await self.attempt(due)
            if once and not self.has_more():
                return
            await asyncio.sleep(self.every_seconds)

    def due(self) -> Found | None:
        """The next one: neither done nor given up, nor failed just now, nor in another's hands."""
        return next((each for each in self._open() if self._is_due(each)), None)

    def has_more(self) -> bool:
        """Whether anything is left that is not in another's hands."""
        return bool(self.checkpoints.settling) or any(not is_locked(self._of(each)) for each in self._open())

    async def attempt(self, found: Found) -> None:
        """Try, and note how it went. What vanishes meanwhile is nobody's fault."""
        folder = self._of(found)
        with locked(folder) as is_ours:
            if not is_ours or not is_open(folder):
                return
            self.notice(f"{found.name}: evaluating")
            try:
                await self.evaluate(found, folder)
            except (TrainerError, OSError) as trouble:
                self._trouble(found, folder, trouble)
            else:
                (folder / ATTEMPTS).unlink(missing_ok=True)
                self.notice(f"{found.name}: done")
                tell(self.folder)

    def _open(self) -> list[Found]:
        found = [each for each in self.checkpoints.whole() if is_open(self._of(each))]
        return found[::-1] if self.newest_first else found

    def _is_due(self, found: Found) -> bool:
        folder = self._of(found)
        return _attempts(folder)["again"] <= time.time() and not is_locked(folder)

    def _of(self, found: Found) -> Path:
        return self.folder / found.name

    def _trouble(self, found: Found, folder: Path, trouble: Exception) -> None:
        if not found.is_there:
            self.notice(f"{found.name} is not there any more: it is left out")
            return
        known = _attempts(folder)
        troubles = [*known["troubles"], f"{type(trouble).__name__}: {trouble}"[:TROUBLE_SHOWN]]
        pause = self.pause_seconds * len(troubles)
        _write(folder / ATTEMPTS, {"troubles": troubles, "again": time.time() + pause})
        if len(troubles) < MOST_ATTEMPTS:
            self.notice(f"{found.name}: attempt {len(troubles)} failed, again in {pause:.0f} s: {trouble}")
        else:
            _write(folder / FAILED, {"troubles": troubles})
            (folder / ATTEMPTS).unlink()
            self.notice(f"{found.name} failed {MOST_ATTEMPTS} times and is left out ({folder / FAILED}): {trouble}")


def is_open(folder: Path) -> bool:
    """Whether there is something to do for it."""
    return not (folder / SUMMARY).exists() and not (folder / FAILED).exists()


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Whether it is ours now, for as long as this lasts. It does not wait."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def is_locked(folder: Path) -> bool:
    """Whether somebody else works on it at the moment."""
    if not (folder / LOCK).exists():
        return False
    with locked(folder) as is_ours:
        return not is_ours


def tell(folder: Path) -> None:
    """Make evaluations.jsonl and page.html of all summaries: a line a checkpoint, by step.

    They are made anew each time, so that a line is neither missing nor there twice, whenever somebody was killed.
    """
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # of two who do this, the second one sees what the first one saw
        found = [json.loads(path.read_text()) for path in folder.glob(f"*/{SUMMARY}")]
        summaries = sorted(found, key=lambda each: (each["step"], each["name"]))
        with replaced(folder / CURVES) as lines:
            lines.writelines(json.dumps(each) + "\n" for each in summaries)
        if summaries:
            with replaced(folder / PAGE) as text:
                text.write(page.render_curves(folder.resolve().parent.name, summaries))


def _attempts(folder: Path) -> dict[str, Any]:
    known: dict[str, Any] = {"troubles": [], "again": 0.0}
    with suppress(OSError, ValueError):
        known |= json.loads((folder / ATTEMPTS).read_text())
    return known


def _write(path: Path, said: dict[str, Any]) -> None:
    with replaced(path) as file:
        json.dump(said, file, indent=2)
