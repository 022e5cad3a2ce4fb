"""Reads DeepCoder-Preview: `tests` as JSON text, in columns (taco) or records (primeintellect, lcbv5, codeforces)."""

from __future__ import annotations

from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources import bounds, fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has DeepCoder's fields."""
    return {"problem", "tests"} <= row.keys() and "data_source" not in row


def make(row: Row) -> Problem:
    """Return a problem for a function if the tests name one, else for a program."""
    question, starter = fields.text(row, "problem"), fields.optional(row, "starter_code")
    found, about = fields.parsed(row, "tests"), _about(row)
    tests = cases.either(found, str(about.get("func_name") or about.get("fn_name") or ""), starter)
    function = str(getattr(tests[0], "function", ""))
    return Problem(
        id=fields.hashed("deepcoder", question, found),
        prompt=prompts.to_solve(question, starter, function),
        starter=starter,
        tests=tests,
        limits=bounds.limits({**about, **row}),
        solutions=programs.solutions(row.get("solutions")),
        source="deepcoder",
        meta=fields.meta(difficulty=about.get("difficulty"), platform=about.get("platform")),
    )


def _about(row: Row) -> dict[str, Any]:
    """The metadata, which some configurations lack and others have as an object."""
    try:
        found = fields.parsed(row, "metadata")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


READER = Reader("deepcoder", "DeepCoder-Preview: primeintellect, taco, lcbv5, codeforces", is_mine, make)
