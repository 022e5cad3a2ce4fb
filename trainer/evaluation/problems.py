"""The problems of an evaluation: from files of ours, from published ones, or from the hub; those of a window.

Whatever they come from, they become one file of our lines (`trainer.data`) in the evaluation's folder. Its problems
are read one at a time, for hidden tests are gigabytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data import Problems
from trainer.errors import ConfigError
from trainer.evaluation.formats import format_of
from trainer.evaluation.journal import parsed, replaced
from trainer.evaluation.presets import Hub, Window

PROBLEMS, CHOSEN = "problems.jsonl", "chosen.jsonl"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """Which problems: files, else those on the hub; of a window, if there is one; the first so many, if said."""

    files: tuple[Path, ...] = ()
    hub: Hub | None = None
    window: Window | None = None
    limit: int = 0


@dataclass(frozen=True)
class Chosen:
    """The problems, and what became of the others."""

    problems: Problems
    outside: int  # of the window
    refused: int  # cannot be graded here


def choose(asked: Asked, folder: Path) -> Chosen:
    """Write them down in `folder`, and read them from there. Raises ConfigError with the place of what is wrong."""
    counts = {"outside": 0, "refused": 0}
    path = _place(asked, folder)
    with replaced(path) as file:
        for kept, line in enumerate(_chosen(asked, counts), 1):
            file.write(json.dumps(line) + "\n")
            if kept == asked.limit:
                break
        if not file.tell():
            raise ConfigError(
                f"no problems are left: {counts['outside']} are outside the window, "
                f"{counts['refused']} cannot be graded here"
            )
    return Chosen(Problems([path]), counts["outside"], counts["refused"])


def _place(asked: Asked, folder: Path) -> Path:
    """Never that of a file that is chosen from: it may have more than is wanted now."""
    path = folder / PROBLEMS
    return folder / CHOSEN if path.resolve() in {each.resolve() for each in asked.files} else path


def _chosen(asked: Asked, counts: dict[str, int]) -> Iterator[Row]:
    for place, row in _rows(asked):
        line = _line(row, place)
        if line is None:
            counts["refused"] += 1
        elif not _is_within(line, asked.window, place):
            counts["outside"] += 1
        else:
            yield line


def _rows(asked: Asked) -> Iterator[tuple[str, Row]]:
    if asked.files:
        for path in asked.files:
            yield from _lines(path)
    elif asked.hub:
        for number, row in enumerate(from_hub(asked.hub), 1):
            yield f"{asked.hub.name}:{number}", row
    else:
        raise ConfigError("no problems: name files of them, or a preset")


def _line(row: Row, place: str) -> Row | None:
    form = format_of(row)
    if form is None:
        return row
    try:
        line: Row | None = form.line_of(row)
    except ConfigError as trouble:
        raise ConfigError(f"{place}: {trouble}") from None
    return line


def _is_within(line: Row, window: Window | None, place: str) -> bool:
    if window is None:
        return True
    date = (line.get("meta") or {}).get("date")
    if not date:
        raise ConfigError(f'{place}: problem {line.get("id")!r} has no "meta": {{"date"}}, and a window was asked for')
    return window.has(str(date))


def _lines(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}:{number}", {"source": path.stem} | parsed(line, f"{path}:{number}")
    except OSError as trouble:
        raise ConfigError(f"{path}: {trouble.strerror or trouble}") from None


def from_hub(hub: Hub) -> Iterable[Row]:
    """Row by row, with the library `datasets`. Not run here against the hub itself. Raises ConfigError."""
    try:
        from datasets import load_dataset  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        raise ConfigError(
            f"{hub.name} is on the hub, and the library for it is not installed: pip install datasets, "
            "or download its files and name them"
        ) from None
    try:
        if hub.files:  # a data set that was a script: newer versions of the library run none
            files = f"hf://datasets/{hub.name}/{hub.files}"
            rows: Iterable[Row] = load_dataset("json", data_files=files, split="train", streaming=True)
        else:
            rows = load_dataset(hub.name, hub.config or None, split=hub.split)
    except (OSError, ValueError) as trouble:
        raise ConfigError(f"{hub.name}: {trouble}") from None
    return rows
