"""Published data sets in the form that they have, as lines of ours. One module a format; found by its fields.

Each has `is_mine(row)` and `line_of(row)`: what `trainer.data` reads, or None for a problem that cannot be graded here.
In "meta" is what an evaluation wants to know besides: "date" (ISO), "difficulty", "platform", and "contest" for a
rating ({"id", "index"}). To add a format, add its module to FORMATS.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from trainer.evaluation.formats import codeelo, humaneval, livecodebench, mbpp

FORMATS: tuple[ModuleType, ...] = (livecodebench, humaneval, mbpp, codeelo)


def format_of(row: Mapping[str, Any]) -> ModuleType | None:
    """The format that a row is in, None if it is none of these."""
    return next((each for each in FORMATS if each.is_mine(row)), None)
