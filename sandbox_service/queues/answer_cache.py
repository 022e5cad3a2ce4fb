"""Keeps answers for some seconds, within a bound in bytes that also counts an entry's memory beside its answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

from sandbox_service.grading.encoded_grade import EncodedGrade

MOST_BYTES = 64 << 20
ENTRY_BYTES = 600  # of an entry's own objects, measured


class _Entry(NamedTuple):
    answer: EncodedGrade
    digest: bytes
    stored_at: float  # monotonic
    size: int


class AnswerCache:
    """Answers by id or digest, the most recently used ones.

    Attributes:
        bytes: what the entries take, about.
    """

    def __init__(self, seconds: float, most_bytes: int = MOST_BYTES) -> None:
        """Make an empty cache.

        Args:
            seconds: how long an answer is kept; 0: not at all.
            most_bytes: the bound of `bytes`; a single answer may exceed it.
        """
        self.bytes = 0
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def put(self, name: str, digest: bytes, answer: EncodedGrade) -> None:
        """Keep an answer, and drop those that are too old or too many.

        Args:
            name: the id or digest to find it by.
            digest: the digest of the body that it belongs to.
            answer: the answer.
        """
        if self._seconds <= 0:
            return
        self.drop(name)
        now, size = time.monotonic(), len(answer.body) + ENTRY_BYTES
        self._make_room(size, now)
        self._entries[name] = _Entry(EncodedGrade(answer.body), digest, now, size)
        self.bytes += size

    def _make_room(self, size: int, now: float) -> None:
        """Drop the least recently used answers until there is room for one of this size and the next is not too old."""
        while self._entries:
            name, first = next(iter(self._entries.items()))
            if self.bytes + size <= self._most_bytes and now - first.stored_at <= self._seconds:
                return
            self.drop(name)

    def drop(self, name: str) -> None:
        """Forget the answer of this name, if it is kept."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self.bytes -= entry.size

    def get(self, name: str) -> EncodedGrade | None:
        """Return the answer of this name; None if it is not kept."""
        found = self._find(name)
        return found.answer if found else None

    def digest(self, name: str) -> bytes | None:
        """Return the digest of the body that the answer of this name belongs to; None if it is not kept."""
        found = self._find(name)
        return found.digest if found else None

    def _find(self, name: str) -> _Entry | None:
        found = self._entries.get(name)
        if found is None:
            return None
        if time.monotonic() - found.stored_at > self._seconds:
            self.drop(name)
            return None
        self._entries.move_to_end(name)
        return found
