"""Writes and finds checkpoints of a run. A checkpoint is complete or absent, and old ones are deleted.

    RUN/checkpoints/step_000120/
        manifest.json   {"step": 120, "files": {path: {"bytes": n}}}
        state.json      rank 0's state: the position in the data, and the groups in flight
        groups.pickle   finished groups that were not trained on; JSON is too slow for millions of tokens
        model/          in Hugging Face's format, so that vLLM can load it
        engine/         DeepSpeed's: weights, optimiser and random generators of each rank

A checkpoint is written under a temporary name, synced to disk and renamed, so a crash of the process or the machine
cannot leave an incomplete one under the final name. All ranks must see the folder.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainer.episode import Group, Prompt
from trainer.errors import ConfigError

FOLDER = "checkpoints"
MANIFEST = "manifest.json"
STATE = "state.json"
ENGINE = "engine"
MODEL = "model"
GROUPS = "groups.pickle"
UNFINISHED = ".tmp"
# settings that finished samples, or the position in the data, depend on; the rest may change when a run is resumed
UNCHANGEABLE = (
    "seed ",
    "lora.",
    *("data.format ", "data.system ", "data.template.", "data.order "),
    "rollout.temperature ",
    *("duel.ask ", "duel.cases "),
)
NAME = re.compile(r"step_(\d{6,})")


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint."""

    path: Path
    step: int

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.path / STATE).read_text())
        return state

    def damaged_files(self) -> list[str]:
        """Return the files whose size differs from the manifest, or the manifest if it cannot be read."""
        try:
            listed = json.loads((self.path / MANIFEST).read_text())["files"]
        except (OSError, ValueError, KeyError):
            return [MANIFEST]
        there = dict(_files(self.path))
        return [name for name, file in listed.items() if there.get(name) != file["bytes"]]


class Checkpoints:
    """The checkpoints of one run, on rank 0: `keep` of the newest, and of steps divisible by `keep_every` (0: none)."""

    def __init__(self, run: Path, keep: int = 1, keep_every: int = 0) -> None:
        self._folder = run / FOLDER
        self._keep = keep
        self._keep_every = keep_every

    def all(self) -> list[Checkpoint]:
        """Return all checkpoints, oldest first."""
        named = [
            (path, NAME.fullmatch(path.name)) for path in self._folder.glob("step_*") if (path / MANIFEST).exists()
        ]
        return sorted([Checkpoint(path, int(name[1])) for path, name in named if name], key=lambda each: each.step)

    def newest(self, notice: Callable[[str], None]) -> Checkpoint | None:
        """Return the newest undamaged checkpoint, None if there is none. Each damaged one gives a notice."""
        for each in reversed(self.all()):
            if not (damaged := each.damaged_files()):
                return each
            notice(f"{each.path} is skipped: damaged files: {', '.join(damaged[:3])}")
        return None

    def write(self, step: int, state: dict[str, Any], fill: Callable[[Path], None]) -> None:
        """Write a checkpoint of a step, with rank 0's state and the files that `fill` writes to a folder.

        Raises:
            OSError: Writing failed; no part of the checkpoint remains.
        """
        path = self._folder / f"step_{step:06}"
        unfinished = path.with_name(path.name + UNFINISHED)
        for rest in self._folder.glob(f"step_*{UNFINISHED}"):  # of killed processes
            shutil.rmtree(rest, ignore_errors=True)
        try:
            unfinished.mkdir(parents=True)
            (unfinished / STATE).write_text(json.dumps(state))
            fill(unfinished)
            files = {name: {"bytes": size} for name, size in sorted(_files(unfinished))}
            (unfinished / MANIFEST).write_text(json.dumps({"step": step, "files": files}, indent=1) + "\n")
            for each in [*unfinished.rglob("*"), unfinished]:
                _sync(each)
            _remove(path)  # left by a run that was resumed from an older checkpoint
            unfinished.rename(path)
            _sync(self._folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        self._prune(step)

    def _prune(self, step: int) -> None:
        """Remove old checkpoints, and those after `step`, which are damaged: the run went on from an earlier one."""
        until = [each for each in self.all() if each.step <= step]
        old = [each for each in until[: -self._keep] if not self._keep_every or each.step % self._keep_every]
        for each in (*old, *self.all()[len(until) :]):
            _remove(each.path)


def refuse_other_settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Check that a run with the configuration `now` can go on from a checkpoint with the configuration `then`.

    Raises:
        ConfigError: A setting in UNCHANGEABLE differs.
    """
    wrong = [line for line in differences(then, now) if line.startswith(UNCHANGEABLE)]
    if wrong:
        raise ConfigError(
            f"the checkpoint is of a run with other settings: {'; '.join(wrong)}: use the same values, or start a new "
            "run from its model, CHECKPOINT/model"
        )


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings in which two configurations, then and now, differ, except `checkpoint.resume`."""
    old, new = dict(_settings(then)), dict(_settings(now))
    names = sorted((old.keys() | new.keys()) - {"checkpoint.resume"})
    return [
        f"{name} was {old.get(name)!r} and is {new.get(name)!r}" for name in names if old.get(name) != new.get(name)
    ]


def _settings(section: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{where}{key}.")
        else:
            yield f"{where}{key}", value


def write_groups(folder: Path, groups: Sequence[Group]) -> None:
    """Write groups to a file of a folder, with the ids of their problems in place of prompts and tests."""
    nameless = Prompt("", (), {})
    entries = [
        (group.prompt.id, group.number, [replace(each, prompt=nameless) for each in group.episodes]) for group in groups
    ]
    (folder / GROUPS).write_bytes(pickle.dumps(entries))


def read_groups(folder: Path, prompt_of: Callable[[str], Prompt]) -> list[Group]:
    """Return the groups of a folder; `prompt_of` returns the prompt of an id.

    Raises:
        ConfigError: The folder has no such file.
    """
    if not (folder / GROUPS).exists():
        raise ConfigError(f"{folder} is of an earlier version: start a new run from its model, {folder / MODEL}")
    groups = []
    for name, number, episodes in pickle.loads((folder / GROUPS).read_bytes()):  # noqa: S301 - trusted, as engine/ is
        prompt = prompt_of(name)
        asked = {"solver": prompt, "tester": prompt.tester or prompt}
        groups.append(Group(prompt, [replace(each, prompt=asked[each.role]) for each in episodes], number))
    return groups


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != MANIFEST:
            yield str(path.relative_to(folder)), path.stat().st_size


def _remove(path: Path) -> None:
    """Rename, then delete, so that no reader finds a partly deleted checkpoint."""
    if path.exists():
        going = path.rename(path.with_name(f"{path.name}.old{UNFINISHED}"))
        shutil.rmtree(going, ignore_errors=True)


def _sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
