"""Keeps answers for some seconds, within a bound in bytes that also counts an entry's memory beside its answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TypeAlias

from sandbox_service.grading.encoded_grade import EncodedGrade

MOST_BYTES = 64 << 20
LOOK_SECONDS = 1.0
ENTRY_BYTES = 600  # of an entry's own objects, measured


_Entry: TypeAlias = tuple[bytes, bytes, float]
"""A body, the digest of its work, and the monotonic seconds when it was stored. A named tuple takes longer to make."""


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
        entries = self._entries
        if name in entries:
            self.drop(name)
        now = time.monotonic()
        if now >= self._look_at:
            self._drop_old(now)
        taken = self.bytes + len(answer.body) + ENTRY_BYTES
        while taken > self._most_bytes and entries:
            _, (body, _, _) = entries.popitem(last=False)
            taken -= len(body) + ENTRY_BYTES
        entries[name] = answer.body, digest, now
        self.bytes = taken

    def _drop_old(self, now: float) -> None:
        """Drop the least recently used answers until the next is not too old, and look again in a second."""
        self._look_at = now + LOOK_SECONDS
        while self._entries:
            name, (_, _, stored_at) = next(iter(self._entries.items()))
            if now - stored_at <= self._seconds:
                return
            self.drop(name)

    def drop(self, name: str | bytes) -> None:
        """Forget the answer of this name, if it is kept."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self.bytes -= len(entry[0]) + ENTRY_BYTES

    def get(self, name: str | bytes) -> EncodedGrade | None:
        """Return the answer of this name; None if it is not kept."""
        found = self._find(name)
        return EncodedGrade(found[0]) if found else None

    def digest(self, name: str | bytes) -> bytes | None:
        """Return the digest of the body that the answer of this name belongs to; None if it is not kept."""
        found = self._find(name) if name in self._entries else None
        return found[1] if found else None

    def _find(self, name: str | bytes) -> _Entry | None:
        found = self._entries.get(name)
        if found is None:
            return None
        if time.monotonic() - found[2] > self._seconds:
            self.drop(name)
            return None
        self._entries.move_to_end(name)
        return found
