"""What was judged so far: a file of JSON lines that is only appended to, so that a kill loses at most the last line.

Its first line says by which recipe; another recipe may not go on with it. Each further line is what was found out about
one problem, by the hash of its content. A last line without its end, which a kill leaves behind, is taken away.
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
    """Open for appending; `get` finds what is in it. Only places are kept in memory, not what stands there."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
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
        """What was written under this key."""
        if key not in self._places:
            return None
        start, size = self._places[key]
        record: dict[str, Any] = json.loads(os.pread(self._file, size, start))
        return record

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Write one, at once."""
        self._places[key] = self._append({"key": key, **record})

    def _lock(self) -> None:
        """For as long as it is open: two that write would not know where the other's lines are."""
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
                    f"{self._path}: byte {self._end}: no line of a journal; move the file away"
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
                f"{self._path.parent} holds what another recipe (or an earlier form of this one) has done: "
                "name another output, or say --fresh to judge everything anew"
            )

    def _append(self, said: dict[str, Any]) -> tuple[int, int]:
        line = json.dumps(said, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        start, self._end = self._end, self._end + len(line)
        written = 0
        while written < len(line):  # a full disk raises OSError; what was half written is taken away at the next start
            written += os.write(self._file, line[written:])
        return start, len(line)
