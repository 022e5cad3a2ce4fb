"""Converters from published data sets to the trainer's problem format. One module a format, recognised by its fields.

Each module has `is_mine(row)` and `line_of(row)`, which returns a line for `trainer.data`, or None for a problem that
cannot be graded. "meta" holds what evaluations use: "date" (ISO), "difficulty", "platform", and for a rating "contest"
({"id", "index"}). To add a format, add its module to FORMATS.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from trainer.evaluation.formats import codeelo, humaneval, livecodebench, mbpp

FORMATS: tuple[ModuleType, ...] = (livecodebench, humaneval, mbpp, codeelo)


def format_of(row: Mapping[str, Any]) -> ModuleType | None:
    """Return the format of a row, None if it is none of these.

    Args:
        row: The row.
    """
    return next((each for each in FORMATS if each.is_mine(row)), None)
