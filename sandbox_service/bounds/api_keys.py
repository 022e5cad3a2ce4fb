"""API keys: their names, which do not reveal them, their labels, and their quotas of a minute.

A line of a key file is the key, then words: `label=team-a submissions=600 slot_seconds=120`. The label names the key in
metrics and messages.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_service.errors import ConfigurationError

LABEL = re.compile(r"[A-Za-z0-9._-]{1,40}")
WORDS = ("label", "submissions", "slot_seconds")


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """The label of a key and its quotas for a minute, `submissions` and `slot_seconds`; infinite: no quota."""

    label: str = ""
    submissions: float = math.inf
    slot_seconds: float = math.inf

    @property
    def is_bounded(self) -> bool:
        """True if the key has a quota."""
        return math.isfinite(self.submissions) or math.isfinite(self.slot_seconds)


def key_name(key: str) -> str:
    """Return the name of a key, which does not reveal it."""
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def is_sendable(key: str) -> bool:
    """Return whether a request can send a key: printable ASCII without spaces."""
    return key.isascii() and key.isprintable() and " " not in key


def read_line(line: str, default: KeyTerms) -> tuple[str, KeyTerms]:
    """Return the key of a line and its terms.

    Args:
        line: The line, not empty and without a comment.
        default: The terms of a key of which nothing is said.

    Raises:
        ConfigurationError: A word is unknown or its value wrong. The message does not show the key.
    """
    key, *words = line.split()
    given: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in WORDS or not value:
            raise ConfigurationError(f"{word[:40]!r} follows the key; only {'=…, '.join(WORDS)}=… may")
        given[name] = value
    label = given.get("label", "")
    if label and not LABEL.fullmatch(label):
        raise ConfigurationError(f"label={label[:40]} should be up to 40 letters, digits, dots, dashes and underscores")
    return key, KeyTerms(
        label,
        _quota("submissions", given, default.submissions),
        _quota("slot_seconds", given, default.slot_seconds),
    )


def _quota(name: str, given: Mapping[str, str], default: float) -> float:
    if name not in given:
        return default
    try:
        value = float(given[name])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ConfigurationError(f"{name}={given[name][:40]} should be a number for each minute; 0: no quota")
    return value or math.inf
