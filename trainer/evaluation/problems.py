"""Selects the problems of an evaluation from files, published data sets or the hub.

All are written as one file of the trainer's format (`trainer.data`) to the evaluation's folder. Problems are read one
at a time, because hidden tests take gigabytes.
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
from trainer.evaluation.jsonl import atomic_write, parse_object
from trainer.evaluation.presets import Hub, Window

PROBLEMS, CHOSEN = "problems.jsonl", "chosen.jsonl"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ProblemSelection:
    """Which problems: files, or a data set on the hub; within a window; the first `limit`, if it is not 0."""

    files: tuple[Path, ...] = ()
    hub: Hub | None = None
    window: Window | None = None
    limit: int = 0


@dataclass(frozen=True)
class SelectedProblems:
    """The selected problems, and how many others there were."""

    problems: Problems
    outside: int  # the window
    refused: int  # by the format: cannot be graded


def select_problems(asked: ProblemSelection, folder: Path) -> SelectedProblems:
    """Write the selected problems to `folder` and open them.

    Args:
        asked: The selection.
        folder: The evaluation's folder.

    Returns:
        The selected problems.

    Raises:
        ConfigError: A problem is invalid, or none is left.
    """
    counts = {"outside": 0, "refused": 0}
    path = _place(asked, folder)
    with atomic_write(path) as file:
        for kept, line in enumerate(_chosen(asked, counts), 1):
            file.write(json.dumps(line) + "\n")
            if kept == asked.limit:
                break
        if not file.tell():
            raise ConfigError(
                f"no problems are left: {counts['outside']} are outside the window, "
                f"{counts['refused']} cannot be graded here"
            )
    return SelectedProblems(Problems([path]), counts["outside"], counts["refused"])


def _place(asked: ProblemSelection, folder: Path) -> Path:
    """Return the output file, which is never one of the input files."""
    path = folder / PROBLEMS
    return folder / CHOSEN if path.resolve() in {each.resolve() for each in asked.files} else path


def _chosen(asked: ProblemSelection, counts: dict[str, int]) -> Iterator[Row]:
    for place, row in _rows(asked):
        line = _line(row, place)
        if line is None:
            counts["refused"] += 1
        elif not _is_within(line, asked.window, place):
            counts["outside"] += 1
        else:
            yield line


def _rows(asked: ProblemSelection) -> Iterator[tuple[str, Row]]:
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
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None
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
                    yield f"{path}:{number}", {"source": path.stem} | parse_object(line, f"{path}:{number}")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None


def from_hub(hub: Hub) -> Iterable[Row]:
    """Yield the rows of a data set on the hub, with the library `datasets`. Not tested against the hub.

    Args:
        hub: The data set.

    Returns:
        An iterator over the rows.

    Raises:
        ConfigError: The library is not installed, or the data set cannot be read.
    """
    try:
        from datasets import load_dataset  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        raise ConfigError(
            f"{hub.name} is on the hub, which needs the library datasets: pip install datasets, "
            "or download its files and name them"
        ) from None
    try:
        if hub.files:  # newer versions of the library do not run data sets that are scripts
            files = f"hf://datasets/{hub.name}/{hub.files}"
            rows: Iterable[Row] = load_dataset("json", data_files=files, split="train", streaming=True)
        else:
            rows = load_dataset(hub.name, hub.config or None, split=hub.split)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{hub.name}: {error}") from None
    return rows
