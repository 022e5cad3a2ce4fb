"""Checkpoints of a run: each is whole or not there, and only the newest few are kept.

    RUN/checkpoints/step_000120/
        manifest.json   {"step": 120, "files": {path: {"bytes": n}}}
        state.json      what rank 0 knows: the place in the data, and groups that were not learnt from yet
        model/          in Hugging Face's form, so vLLM loads it as it is
        engine/         DeepSpeed's: weights, optimiser and generators of chance of each rank

It is written under another name, put on the disk for good, and then renamed: what has the right name is complete,
whenever the process or the machine died. All ranks must see the folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "checkpoints"
MANIFEST = "manifest.json"
STATE = "state.json"
ENGINE = "engine"
MODEL = "model"
UNFINISHED = ".tmp"
NAME = re.compile(r"step_(\d{6,})")


@dataclass(frozen=True)
class Checkpoint:
    """One that is complete."""

    path: Path
    step: int

    @property
    def engine(self) -> Path:
        """DeepSpeed's part."""
        return self.path / ENGINE

    def state(self) -> dict[str, Any]:
        """Rank 0's part."""
        state: dict[str, Any] = json.loads((self.path / STATE).read_text())
        return state

    def flaws(self) -> list[str]:
        """What is not as it was written, by the files' sizes."""
        said = json.loads((self.path / MANIFEST).read_text())["files"]
        there = dict(_files(self.path))
        return [name for name, file in said.items() if there.get(name) != file["bytes"]]


class Checkpoints:
    """Those of one run. Only rank 0 has it."""

    def __init__(self, run: Path, keep: int = 1, keep_every: int = 0) -> None:
        """`keep`: how many of the newest; `keep_every`: of the others, those of steps that it divides, if not 0."""
        self._folder = run / FOLDER
        self._keep = keep
        self._keep_every = keep_every

    def all(self) -> list[Checkpoint]:
        """The oldest first."""
        return sorted(_checkpoints(self._folder), key=lambda each: each.step)

    def newest(self, notice: Callable[[str], None]) -> Checkpoint | None:
        """The newest of which nothing is missing. What is passed over for that is told."""
        for each in reversed(self.all()):
            if not (flaws := each.flaws()):
                return each
            notice(f"{each.path} is passed over: {', '.join(flaws[:3])} is not as it was written")
        return None

    def write(self, step: int, state: dict[str, Any], fill: Callable[[Path], None]) -> None:
        """A new one, of which `fill` writes what is not the state. Raises OSError: then nothing of it is there."""
        path = self._folder / f"step_{step:06}"
        unfinished = path.with_name(path.name + UNFINISHED)
        self._clear()
        try:
            unfinished.mkdir(parents=True)
            (unfinished / STATE).write_text(json.dumps(state))
            fill(unfinished)
            files = {name: {"bytes": size} for name, size in sorted(_files(unfinished))}
            (unfinished / MANIFEST).write_text(json.dumps({"step": step, "files": files}, indent=1) + "\n")
            _put_on_disk(unfinished)
            _remove(path)  # of a run that went on from an older one
            unfinished.rename(path)
            _sync(self._folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        self._prune()

    def _clear(self) -> None:
        """What somebody who was killed has left."""
        for rest in self._folder.glob(f"step_*{UNFINISHED}"):
            shutil.rmtree(rest, ignore_errors=True)

    def _prune(self) -> None:
        for each in self.all()[: -self._keep]:
            if not (self._keep_every and each.step % self._keep_every == 0):
                _remove(each.path)


def _checkpoints(folder: Path) -> Iterator[Checkpoint]:
    for path in folder.glob("step_*"):
        if (match := NAME.fullmatch(path.name)) and (path / MANIFEST).exists():
            yield Checkpoint(path, int(match[1]))


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    """Names and bytes of what is in a folder, but the manifest."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name != MANIFEST:
            yield str(path.relative_to(folder)), path.stat().st_size


def _remove(path: Path) -> None:
    """Under another name, so that nobody takes half of it."""
    if path.exists():
        going = path.rename(path.with_name(f"{path.name}.old{UNFINISHED}"))
        shutil.rmtree(going, ignore_errors=True)


def _put_on_disk(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        _sync(path)


def _sync(path: Path) -> None:
    """What is written is there when the machine is off."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
