"""Finds the complete checkpoints of a run.

The trainer's own (`RUN/checkpoints/step_000120/`) get their name when they are complete, and have a manifest: each file
must have the size that it lists. A folder with such a name and no manifest is ignored.

Other trainers' (`RUN/global_step_120/`, `RUN/checkpoint-120/`) are complete when there is a configuration and every
weight file that the index names, each as long as its own header says, and no file of the model has changed its size for
some time.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

OURS = re.compile(r"step_(\d{6,})")
OTHERS = re.compile(r"(?:global_step_|checkpoint-)(\d+)")
FOLDERS = (
    ".",
    "hf_model",
    "model",
    "huggingface",
    "actor/huggingface",
    "actor",
)  # where others write the model
INDICES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
SINGLE = ("model.safetensors", "pytorch_model.bin")
MOST_HEADER_BYTES = 100 << 20  # safetensors' own limit

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FoundCheckpoint:
    """A complete checkpoint."""

    step: int
    path: Path
    model: Path

    @property
    def name(self) -> str:
        """The name of its folder, also used for its evaluation."""
        return self.path.name

    @property
    def is_there(self) -> bool:
        """Return whether it still exists: a run keeps the newest ones only."""
        return self.path.is_dir()


class CheckpointFinder:
    """Finds the checkpoints of a run. `settle_seconds`: how long other trainers' must be unchanged."""

    def __init__(self, run: Path, settle_seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._settle_seconds = settle_seconds
        self._now = now
        self._seen: dict[Path, tuple[Sizes, float]] = {}
        self.settling = 0  # other trainers' checkpoints that are not settled yet

    def whole(self) -> list[FoundCheckpoint]:
        """Return the complete checkpoints, oldest first."""
        self.settling = 0
        return sorted([*self._ours(), *self._others()], key=lambda each: (each.step, each.name))

    def _ours(self) -> Iterator[FoundCheckpoint]:
        for path in _folders(self._run / "checkpoints"):
            if (match := OURS.fullmatch(path.name)) and is_as_written(path):
                yield FoundCheckpoint(int(match[1]), path, path / "model")

    def _others(self) -> Iterator[FoundCheckpoint]:
        for path in [*_folders(self._run), *_folders(self._run / "checkpoints")]:
            match = OTHERS.fullmatch(path.name)
            model = next((path / each for each in FOLDERS if has_model(path / each)), None) if match else None
            if match and model and self._has_settled(model):
                yield FoundCheckpoint(int(match[1]), path, model)

    def _has_settled(self, model: Path) -> bool:
        sizes = _sizes(model)
        if self._seen.get(model, ((), 0.0))[0] != sizes:
            self._seen[model] = (sizes, self._now())
        has_settled = self._now() - self._seen[model][1] >= self._settle_seconds
        self.settling += not has_settled
        return has_settled


def is_as_written(path: Path) -> bool:
    """Return whether each file has the size in the manifest, and there is a model.

    Args:
        path: The checkpoint.
    """
    try:
        files = json.loads((path / "manifest.json").read_text())["files"]
        return has_model(path / "model") and all((path / name).stat().st_size == files[name]["bytes"] for name in files)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def has_model(folder: Path) -> bool:
    """Return whether a folder has a configuration and all weights.

    Args:
        folder: The folder.
    """
    try:
        if not isinstance(json.loads((folder / "config.json").read_text()), dict):
            return False
        files = _weights(folder)
        return bool(files) and all(_is_in_full(folder / name) for name in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _weights(folder: Path) -> set[str]:
    """Return the weight files: those of the index, or the single one."""
    for index in INDICES:
        if (folder / index).exists():
            return set(json.loads((folder / index).read_text())["weight_map"].values())
    return {name for name in SINGLE if (folder / name).exists()}


def _is_in_full(path: Path) -> bool:
    """Compare a safetensors file's size with the end of its last tensor, which its header has."""
    size = path.stat().st_size
    if path.suffix != ".safetensors":
        return size > 0
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(size, MOST_HEADER_BYTES):
            return False
        header = json.loads(file.read(length))
    ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
    return bool(size == 8 + length + max(ends, default=0))


def _sizes(folder: Path) -> Sizes:
    """Return names and sizes; files that vanish meanwhile are ignored."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            if path.is_file():
                found.append((path.name, path.stat().st_size))
        except OSError:
            continue
    return tuple(found)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError:
        return []
