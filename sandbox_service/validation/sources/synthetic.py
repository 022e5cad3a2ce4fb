"""Reads PrimeIntellect's SYNTHETIC-1: a prompt and `verification_info`, for code and mathematics.

Its other tasks (judged by a model, software engineering) have nothing to execute here.
"""

from __future__ import annotations

import ast
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources import bounds, fields, mathematics, programs
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "Apache-2.0"


def is_mine(row: Row) -> bool:
    """Return whether the row has SYNTHETIC-1's fields."""
    return {"prompt", "verification_info"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For other tasks.
    """
    info = _info(row)
    if "test_cases" in info:
        return _code(row, info)
    if info.get("ground_truth") is not None and row.get("task_type") in (None, "", "verifiable_math"):
        right = mathematics.answers(info["ground_truth"])
        made = mathematics.problem(_name(row), fields.text(row, "prompt"), right, "synthetic-1", _meta(row))
        return made.model_copy(update={"licence": LICENCE})
    raise ValueError(f"the task is {row.get('task_type')!r}: only code with tests and mathematics are graded here")


def _code(row: Row, info: Row) -> Problem:
    language = programs.language_of(str(info.get("language") or "python"))
    return Problem(
        id=_name(row),
        prompt=fields.text(row, "prompt"),
        language=language,
        tests=cases.records(fields.listing(info, "test_cases")),
        limits=bounds.limits({**info, **row}),
        solutions=programs.solutions(fields.optional(row, "gold_standard_solution"), language=language),
        source="synthetic-1",
        licence=LICENCE,
        meta=_meta(row),
    )


def _info(row: Row) -> dict[str, Any]:
    """JSON, or a Python literal, which is parsed and not executed."""
    try:
        return fields.mapping(row, "verification_info")
    except ValueError:
        return _literal(str(row["verification_info"]))


def _literal(text: str) -> dict[str, Any]:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("field verification_info is not an object, neither in JSON nor in Python's form")
    return found


def _name(row: Row) -> str:
    number = row.get("problem_id")
    return f"synthetic-1/{number}" if number else fields.hashed("synthetic-1", row["prompt"], row["verification_info"])


def _meta(row: Row) -> dict[str, Any] | None:
    return fields.meta(platform=row.get("source"), number=row.get("in_source_id"))


READER = Reader("synthetic-1", "PrimeIntellect's SYNTHETIC-1, code and mathematics", is_mine, make)
