"""Reads data sets from the Hugging Face hub with its library, row by row, at a fixed commit.

Nothing in a data set is executed: the library's `trust_remote_code` is never set. Data sets with a loading script,
which newer versions of the library refuse, can be read by their files: `files = "test*.jsonl"`. In JSON files the
library turns dates into datetimes, and objects whose fields differ between rows into JSON text (seen with 5.2). Readers
accept both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources import optional_libraries
from sandbox_service.validation.sources.rows import Found

_COMMIT = re.compile(r"[0-9a-f]{40}")
ASK_SECONDS = 5.0
_KINDS = {"parquet": "parquet", "csv": "csv"}


def rows(name: str, *, split: str, revision: str, config: str = "", files: str = "") -> Iterator[Found]:
    """Yield every row of a split, or of the files in it.

    Args:
        name: Data set, `owner/name`.
        split: Split.
        revision: Full commit hash.
        config: Configuration of the data set, or "".
        files: Pattern of file names, or "" for the data set's own loader.

    Returns:
        An iterator over the rows.

    Raises:
        ConfigurationError: The data set cannot be read; the message says what to do.
    """
    if not _COMMIT.fullmatch(revision):
        raise ConfigurationError(f"{name}: {_asked(name, revision)}")
    if not split and not files:
        raise ConfigurationError(f"{name}: name the split (train, test, …) or the files")
    library = optional_libraries.need("datasets", f"{name} is on the hub, which", "load_dataset")
    return _numbered(name, split or files, _stream(library, name, split, revision, config, files), _errors(library))


def _asked(name: str, revision: str) -> str:
    """Return words that ask for a commit, with the newest one where the hub can be asked."""
    has = f"revision {revision!r} is a name that can move" if revision else "the recipe names no revision of it"
    newest = _newest(name)
    known = f'the newest is revision = "{newest}"' if newest else "the hub shows it under Files and versions"
    return f"{has}, so the data may change; give a commit's whole hash in its [[sources]] ({known})"


def _newest(name: str) -> str:
    """Return the hash of the newest commit of a data set; empty if the hub's library or the hub cannot be asked."""
    try:
        hub = optional_libraries.need("huggingface_hub", "the newest revision", "HfApi")
        found = str(hub.HfApi().dataset_info(name, timeout=ASK_SECONDS).sha or "")
    except (ConfigurationError, OSError, ValueError):
        return ""
    return found if _COMMIT.fullmatch(found) else ""


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
        raise ConfigurationError(f"{name}: reading stopped after row {number}; run it again: {trouble}") from None


def _errors(library: Any) -> tuple[type[Exception], ...]:
    """Exception types that the library raises for faults of the data set or the network; not all are OSErrors."""
    own = getattr(getattr(library, "exceptions", None), "DatasetsError", None)
    return (OSError, ValueError, *((own,) if own else ()))
