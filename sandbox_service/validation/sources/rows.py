"""The types that containers give to readers: a row with its place, and the report of a row that is not a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]

MOST_ROW_BYTES = 256 << 20  # a row is held in memory whole, and some five times over
SHOWN, SHOWN_FIELD = 300, 60


@dataclass(frozen=True)
class Malformed:
    """A row that is not a problem, and why. It is reported, and reading continues."""

    place: str
    reason: str
    row: str  # its beginning


@dataclass(frozen=True)
class Found:
    """A row, its data set, and its number or name there."""

    dataset: str
    number: str
    place: str
    row: Row


def excerpt(row: object) -> str:
    """Return the beginning of a row, for people, at a cost that does not depend on the row's size."""
    if isinstance(row, bytes):
        return row[:SHOWN].decode("utf-8", "replace")
    if isinstance(row, Mapping):
        fields = [f"{name}: {_shown(value)}" for name, value in list(row.items())[:20]]
        return ", ".join(fields)[:SHOWN]
    return _shown(row)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:SHOWN_FIELD]) + ("…" if len(value) > SHOWN_FIELD else "")
    if value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and value.bit_length() < 64):
        return repr(value)
    return f"<{type(value).__name__}>"
