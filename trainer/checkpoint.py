"""Writes and finds checkpoints of a run. A checkpoint is complete or absent, and old ones are deleted.

    RUN/checkpoints/step_000120/
        manifest.json   {"step": 120, "files": {path: {"bytes": n}}}
        state.json      rank 0's state: the position in the data, and the groups in flight
        groups.pickle   finished groups that were not trained on; JSON is too slow for millions of tokens
        model/          in Hugging Face's format, so that vLLM can load it
        engine/         DeepSpeed's: weights, optimiser and random generators of each rank

It is written under a temporary name, synced to disk and renamed. All ranks must see the folder. Its files are
unpickled: load only checkpoints that you trust.
"""

import fcntl
import json
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from trainer.config import Config
from trainer.episode import Group, Prompt
from trainer.errors import ConfigError
from trainer.report import METRICS, read

FOLDER = "checkpoints"
MANIFEST = "manifest.json"
STATE = "state.json"
ENGINE = "engine"
MODEL = "model"
GROUPS = "groups.pickle"
UNFINISHED = ".tmp"
LOCK = ".lock"  # held by the process that runs
# settings that DeepSpeed's state, finished samples or the position in the data depend on; others may change
UNCHANGEABLE = (
    *("ranks ", "deepspeed.zero ", "model.dtype ", "lora.", "seed ", "data.order ", "rollout.temperature "),
    *("data.format ", "data.system ", "data.template.", "duel.ask ", "duel.cases "),
)
NAME = re.compile(r"step_(\d{6,})")


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint."""

    path: Path
    step: int

    def state(self) -> Any:
        with reading(self.path):
            return json.loads((self.path / STATE).read_text())

    def damaged_files(self) -> list[str]:
        """Return the files whose size differs from the manifest, or the manifest if it cannot be read."""
        try:
            listed = json.loads((self.path / MANIFEST).read_text())["files"]
        except (OSError, ValueError, KeyError):
            return [MANIFEST]
        there = _sizes(self.path)
        return [name for name, file in listed.items() if there.get(name) != file["bytes"]]


class Checkpoints:
    """The checkpoints of one run, on rank 0: `keep` of the newest, and of steps divisible by `keep_every` (0: none)."""

    def __init__(self, run: Path, keep: int = 1, keep_every: int = 0) -> None:
        self._folder = run / FOLDER
        self._keep = keep
        self._keep_every = keep_every

    def all(self) -> list[Checkpoint]:
        """Return all checkpoints, oldest first."""
        named = [(NAME.fullmatch(path.parent.name), path.parent) for path in self._folder.glob(f"step_*/{MANIFEST}")]
        return sorted([Checkpoint(path, int(name[1])) for name, path in named if name], key=lambda each: each.step)

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
            files = {name: {"bytes": size} for name, size in sorted(_sizes(unfinished).items())}
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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read files of a checkpoint (path) in a block. Raise ConfigError if their content is damaged."""
    try:
        yield
    except (OSError, ValueError, LookupError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise ConfigError(f"{path} is damaged: remove it to go on from the checkpoint before it: {error!r}") from None


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Try to lock a file (path), which is created, for the duration of the block, and yield whether that succeeded."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise ConfigError(f"{path.parent} cannot be written: {error.strerror}") from None
    with file:
        is_ours = False
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = True
        yield is_ours


def find_checkpoint(config: Config, ranks: int) -> Checkpoint | None:
    """Return the checkpoint to resume from on so many ranks, None for a new run, or raise a ConfigError."""
    checkpoints, notice = Checkpoints(config.folder), partial(print, file=sys.stderr)
    if not config.checkpoint.resume:
        if read(config.folder / METRICS) or checkpoints.all():
            raise ConfigError(
                f"{config.folder} already holds a run: resume it with checkpoint.resume=true, "
                "choose another name, or remove the folder"
            )
        return None
    if not (checkpoint := checkpoints.newest(notice)):
        if checkpoints.all():
            raise ConfigError(f"all checkpoints of {config.folder} are damaged: restore one, or remove the folder")
        return None
    if not (checkpoint.path / GROUPS).exists():
        raise ConfigError(f"{checkpoint.path} is of an earlier version: start a new run from its folder {MODEL}")
    state = checkpoint.state()
    old = {"ranks": state["ranks"], **dict(_settings(state["config"]))}
    new = {"ranks": ranks, **dict(_settings(config.model_dump(mode="json")))}
    names = sorted((old.keys() | new.keys()) - {"checkpoint.resume"})
    pairs = [(name, old.get(name), new.get(name)) for name in names]
    lines = [f"{name} was {then!r} and is {now!r}" for name, then, now in pairs if then != now]
    if wrong := [line for line in lines if line.startswith(UNCHANGEABLE)]:
        raise ConfigError(
            f"the checkpoint is of a run with other settings: {'; '.join(wrong)}: use the same values, or start a new "
            "run from its model, CHECKPOINT/model"
        )
    for line in lines:
        notice(f"configuration differs from the checkpoint's: {line}")
    notice(f"resuming after step {checkpoint.step}")
    return checkpoint


def _settings(section: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{where}{key}.")
        else:
            yield f"{where}{key}", value


def write_groups(folder: Path, groups: Sequence[Group]) -> None:
    """Write groups to a file of a folder, with the ids of their problems in place of prompts and tests."""
    nameless = Prompt("", (), {})
    stripped = ([replace(each, prompt=nameless) for each in group.episodes] for group in groups)
    entries = [(group.prompt.id, group.number, some) for group, some in zip(groups, stripped, strict=True)]
    (folder / GROUPS).write_bytes(pickle.dumps(entries))


def read_groups(folder: Path, prompt_of: Callable[[str], Prompt]) -> list[Group]:
    """Return the groups of a folder; `prompt_of` returns the prompt of an id."""
    groups = []
    with reading(folder):
        entries = pickle.loads((folder / GROUPS).read_bytes())  # noqa: S301 - trusted, as engine/ is
    for name, number, episodes in entries:
        prompt = prompt_of(name)
        asked = {"solver": prompt, "tester": prompt.tester or prompt}
        groups.append(Group(prompt, [replace(each, prompt=asked[each.role]) for each in episodes], number))
    return groups


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def _remove(path: Path) -> None:
    """Rename, then delete, so that no reader finds a partly deleted checkpoint."""
    if path.exists():
        shutil.rmtree(path.rename(path.with_name(f"{path.name}.old{UNFINISHED}")), ignore_errors=True)


def _sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
