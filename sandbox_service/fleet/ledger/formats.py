"""The version of the format of the data in Redis, and the check that all processes at a Redis can read each other's.

A new key, a new hash field, a new field of a submission or grade and a script that does more are no new format: older
processes ignore them, or another process handles what they cannot read. A change that an older version would take for
damage is one, and is made in two releases (docs/decisions/0067): the first reads both formats and writes the old one,
the second writes the new one. So each release shares a Redis with the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, NamedTuple, Self

from sandbox_service.errors import ConfigurationError

FORGET_SECONDS = 600  # without a process of that format, and with nothing pending
_TEXT = re.compile(r"(\d{1,9})/(\d{1,9})-(\d{1,9})")


class LedgerFormat(NamedTuple):
    """The format that a version writes, and the first and the last that it reads. As text: `1/1-1`."""

    writes: int
    reads_from: int
    reads_to: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the format that a process noted in Redis; None for any other text."""
        found = _TEXT.fullmatch(text)
        return cls(*map(int, found.groups())) if found else None

    def __str__(self) -> str:
        return f"{self.writes}/{self.reads_from}-{self.reads_to}"

    def reads(self, other: LedgerFormat) -> bool:
        """Return whether this version reads the data of another one."""
        return self.reads_from <= other.writes <= self.reads_to


FORMAT = LedgerFormat(writes=1, reads_from=1, reads_to=1)
"""Of this version. Versions that note none write and read format 1."""


def check_shared(url: str, noted: Iterable[Any], own: LedgerFormat = FORMAT) -> None:
    """Check that this version can share a Redis with the others that use it.

    Args:
        url: of Redis, without a password; for the message.
        noted: the members of the key `formats`, as bytes.
        own: the format of this version.

    Raises:
        ConfigurationError: one of them cannot read what the other writes.
    """
    for text in noted:
        other = LedgerFormat.parse(text.decode(errors="replace"))
        if other is not None and not (own.reads(other) and other.reads(own)):
            raise ConfigurationError(
                f"SANDBOX_REDIS_URL: the Redis at {url} is used by another version of proctor, which writes format "
                f"{other.writes} and reads {other.reads_from} to {other.reads_to}; this one, {version('proctor')}, "
                f"writes {own.writes} and reads {own.reads_from} to {own.reads_to}. Upgrade by one release at a time; "
                f"or stop all processes of the other version, wait until nothing is pending and {FORGET_SECONDS} s more"
            )
