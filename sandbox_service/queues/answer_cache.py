"""Keeps answers for some seconds, within a bound in bytes that also counts an entry's memory beside its answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

from sandbox_service.grading.encoded_grade import EncodedGrade

MOST_BYTES = 64 << 20
LOOK_SECONDS = 1.0
ENTRY_BYTES = 600  # of an entry's own objects, measured


class _Entry(NamedTuple):
    body: bytes
    digest: bytes
    stored_at: float  # monotonic
    size: int


class AnswerCache:
    """Answers by name or digest, the most recently used ones.

    Attributes:
        bytes: what the entries take, about.
        keeps: whether it keeps anything.
    """

    def __init__(self, seconds: float, most_bytes: int = MOST_BYTES) -> None:
        """Make an empty cache.

        Args:
            seconds: how long an answer is kept; 0: not at all.
            most_bytes: the bound of `bytes`; a single answer may exceed it.
        """
        self.bytes = 0
        self.keeps = seconds > 0
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._look_at = 0.0  # for answers that are too old
        self._entries: OrderedDict[str | bytes, _Entry] = OrderedDict()

    def put(self, name: str | bytes, digest: bytes, answer: EncodedGrade) -> None:
        """Keep an answer, and drop those that are too old or too many.

        Args:
            name: the name or digest to find it by.
            digest: the digest of the body that it belongs to.
            answer: the answer.
        """
        if not self.keeps:
            return
        if name in self._entries:
            self.drop(name)
        now, size = time.monotonic(), len(answer.body) + ENTRY_BYTES
        self._make_room(size, now)
        self._entries[name] = _Entry(answer.body, digest, now, size)
        self.bytes += size

    def _make_room(self, size: int, now: float) -> None:
        """Drop the least recently used answers until one of this size has room; once a second, old ones as well."""
        if now >= self._look_at:
            self._drop_old(now)
        while self._entries and self.bytes + size > self._most_bytes:
            self.drop(next(iter(self._entries)))

    def _drop_old(self, now: float) -> None:
        """Drop the least recently used answers until the next is not too old, and look again in a second."""
        self._look_at = now + LOOK_SECONDS
        while self._entries:
            name, first = next(iter(self._entries.items()))
            if now - first.stored_at <= self._seconds:
                return
            self.drop(name)

    def drop(self, name: str | bytes) -> None:
        """Forget the answer of this name, if it is kept."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self.bytes -= entry.size

    def get(self, name: str | bytes) -> EncodedGrade | None:
        """Return the answer of this name; None if it is not kept."""
        found = self._find(name)
        return EncodedGrade(found.body) if found else None

    def digest(self, name: str | bytes) -> bytes | None:
        """Return the digest of the body that the answer of this name belongs to; None if it is not kept."""
        found = self._find(name)
        return found.digest if found else None

    def _find(self, name: str | bytes) -> _Entry | None:
        found = self._entries.get(name)
        if found is None:
            return None
        if time.monotonic() - found.stored_at > self._seconds:
            self.drop(name)
            return None
        self._entries.move_to_end(name)
        return found
