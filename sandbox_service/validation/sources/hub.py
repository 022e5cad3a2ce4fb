"""Data sets on the Hugging Face hub, through its own library and row by row, at one commit that cannot move.

Nothing of a data set is executed: the library's `trust_remote_code` is never set. What newer versions of the library
refuse because it is a script can be read by its files: `files = "test*.jsonl"`. In files of JSON the library makes a
datetime of a date, and JSON text of objects whose fields differ from row to row (seen with 5.2). Readers take both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources import libraries
from sandbox_service.validation.sources.rows import Found

_COMMIT = re.compile(r"[0-9a-f]{40}")
_KINDS = {"parquet": "parquet", "csv": "csv"}


def rows(name: str, *, split: str, revision: str, config: str = "", files: str = "") -> Iterator[Found]:
    """Every row of a split, or of files in it. Raises ConfigurationError saying what to do."""
    if not _COMMIT.fullmatch(revision):
        raise ConfigurationError(
            f"{name}: revision {revision!r} may mean something else tomorrow: give a commit's whole hash "
            "(40 digits; the hub shows it under Files and versions)"
        )
    if not split and not files:
        raise ConfigurationError(f"{name}: say which split (train, test, …), or which files")
    library = libraries.need("datasets", f"{name} is on the hub, which", "load_dataset")
    return _numbered(name, split or files, _stream(library, name, split, revision, config, files), _errors(library))


def _stream(library: Any, name: str, split: str, revision: str, config: str, files: str) -> Any:
    try:
        if files:
            kind = _KINDS.get(files.rpartition(".")[2], "json")
            place = f"hf://datasets/{name}@{revision}/{files}"
            return library.load_dataset(kind, data_files=place, split="train", streaming=True)
        return library.load_dataset(name, config or None, split=split, revision=revision, streaming=True)
    except _errors(library) as trouble:
        raise ConfigurationError(f"{name}: {trouble}") from None


def _numbered(name: str, part: str, stream: Any, errors: tuple[type[Exception], ...]) -> Iterator[Found]:
    number = 0
    try:
        for number, row in enumerate(stream, 1):
            yield Found(name, f"{part}:{number}", f"{name}[{part}]:{number}", row)
    except errors as trouble:
        raise ConfigurationError(f"{name}: it broke off after row {number}; run it again: {trouble}") from None


def _errors(library: Any) -> tuple[type[Exception], ...]:
    """What the library raises for what is not our doing; its own errors are not all OSErrors."""
    own = getattr(getattr(library, "exceptions", None), "DatasetsError", None)
    return (OSError, ValueError, *((own,) if own else ()))
