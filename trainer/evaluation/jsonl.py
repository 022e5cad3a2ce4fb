"""Append-only JSON Lines files: a killed writer loses at most the line it was writing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from trainer.errors import ConfigError


class JsonlWriter:
    """Appends to a file. An incomplete last line, left by a killed writer, is removed first."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        _mend(path)

    def __enter__(self) -> JsonlWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line with one system call.

        Args:
            line: The object.
        """
        self._file.write(json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file. An incomplete last line is ignored.

    Args:
        path: The file; if it is missing, there are none.

    Raises:
        ConfigError: Another line is not a JSON object.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if line.strip():
                yield parse_object(line, f"{path}:{number}")


@contextmanager
def atomic_write(path: Path) -> Iterator[TextIO]:
    """Open a temporary file that replaces `path` at the end of the block.

    Args:
        path: The file.

    Yields:
        The temporary file.
    """
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


def parse_object(line: bytes, place: str) -> dict[str, Any]:
    """Parse a line.

    Args:
        line: The line.
        place: `file:line`, for messages.

    Returns:
        The object.

    Raises:
        ConfigError: The line is not a JSON object.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: invalid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: a JSON object is expected")
    return value
