"""Reads CodeElo: problems of Codeforces with the examples of their statements, and no solutions."""

from __future__ import annotations

import re
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources import bounds, fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

PARTS = (("description", ""), ("input", "Input"), ("output", "Output"), ("note", "Note"))


def is_mine(row: Row) -> bool:
    """Return whether the row has CodeElo's fields."""
    return {"problem_id", "description", "examples", "time_limit_ms"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If the problem is interactive or has no examples.
    """
    if fields.optional(row, "interaction"):
        raise ValueError("the problem is interactive")
    examples = [(cases.lines(given), cases.lines(wanted)) for given, wanted in fields.listing(row, "examples")]
    if not examples:
        raise ValueError("the problem has no examples, and other tests are not published")
    return Problem(
        id=f"codeforces/{fields.name(row, 'problem_id')}",
        prompt=prompts.with_examples(prompts.to_solve(_statement(row)), examples),
        tests=[cases.stdin(given, wanted) for given, wanted in examples],
        limits=bounds.limits(row),
        source="codeforces",
        meta=fields.meta(
            platform="codeforces",
            difficulty=row.get("rating"),
            title=row.get("title"),
            tags=fields.texts(row.get("tags")),
            contest=_contest(str(row["problem_id"])),
        ),
    )


def _statement(row: Row) -> str:
    parts = [(title, fields.optional(row, name).strip()) for name, title in PARTS]
    return "\n\n".join(f"{title}:\n{text}" if title else text for title, text in parts if text)


def _contest(name: str) -> dict[str, Any] | None:
    match = re.fullmatch(r"(\d+)([A-Z]\d*)", name)
    return {"id": int(match[1]), "index": match[2]} if match else None


READER = Reader("codeelo", "CodeElo", is_mine, make)
