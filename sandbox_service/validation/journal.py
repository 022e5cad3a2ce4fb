"""Append-only JSON lines of verdicts, so that a killed run loses at most its last line.

The first line holds the recipe's fingerprint; a run with another fingerprint refuses the file. Each further line is a
record, by the hash of the problem's content. An incomplete last line is removed.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox_service.errors import ConfigurationError


class Journal:
    """A journal that is open for appending. Memory holds offsets, not records."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise ConfigurationError(f"cannot write to the output folder {path.parent}: {error.strerror}") from None
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        try:
            self._lock()
            self._read(fingerprint)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record with this key, or None."""
        if key not in self._places:
            return None
        start, size = self._places[key]
        record: dict[str, Any] = json.loads(os.pread(self._file, size, start))
        return record

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Append the record of a key and flush it."""
        self._places[key] = self._append({"key": key, **record})

    def _lock(self) -> None:
        """Lock the file while it is open: a second writer would invalidate the offsets."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"{self._path.parent}: another validation is writing there: wait for its end, or name another output"
            ) from None

    def _read(self, fingerprint: str) -> None:
        for line in self._whole_lines():
            try:
                said = json.loads(line)
                key = said.get("key")
            except (ValueError, AttributeError):
                raise ConfigurationError(
                    f"{self._path}: byte {self._end}: not a line of a journal; move the file away"
                ) from None
            if self._end == 0:
                self._check(said, fingerprint)
            elif isinstance(key, str):
                self._places[key] = self._end, len(line)
            self._end += len(line)
        os.ftruncate(self._file, self._end)
        if self._end == 0:
            self._append({"recipe": fingerprint})

    def _whole_lines(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))

    def _check(self, said: dict[str, Any], fingerprint: str) -> None:
        if said.get("recipe") != fingerprint:
            raise ConfigurationError(
                f"{self._path.parent} holds the journal of another recipe (or of an earlier version of this one): "
                "name another output, or use --fresh to judge everything again"
            )

    def _append(self, said: dict[str, Any]) -> tuple[int, int]:
        line = json.dumps(said, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        start, self._end = self._end, self._end + len(line)
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:  # a full disk: another record must not follow the part of this one
            self._end = start
            os.ftruncate(self._file, start)
            raise
        return start, len(line)
