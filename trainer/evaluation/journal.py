"""A file of JSON lines that is only appended to, so that whoever is killed loses at most the line that he wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from trainer.errors import ConfigError


class Journal:
    """Open for appending. A last line that was not finished, which a kill leaves behind, is taken away first."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        _mend(path)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, line: Mapping[str, Any]) -> None:
        """One line, in one write."""
        self._file.write(json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file, none if there is no file. A last one without its end is left out.

    Raises ConfigError for any other that is no JSON object.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if line.strip():
                yield parsed(line, f"{path}:{number}")


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """A file to write that is there all at once, when it is done: no reader ever finds half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _mend(path: Path) -> None:
    with path.open("rb+") as file:
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(whole)


def parsed(line: bytes, place: str) -> dict[str, Any]:
    """The object that a line is. Raises ConfigError with its place."""
    try:
        said = json.loads(line)
    except ValueError as trouble:
        raise ConfigError(f"{place}: no JSON: {trouble}") from None
    if not isinstance(said, dict):
        raise ConfigError(f"{place}: a JSON object is expected")
    return said
