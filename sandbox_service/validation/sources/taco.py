"""Reads TACO (BAAI's and the verified one) and APPS: columns of inputs and outputs, for programs or for calls."""

from __future__ import annotations

from typing import Any

from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem, Provenance
from sandbox_service.validation.sources import bounds, fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has TACO's fields; AReaL's rows have no difficulty."""
    return {"question", "input_output", "difficulty"} <= row.keys()


def make(row: Row) -> Problem:
    """Return a problem for a function if the row names one, else for a program."""
    found, starter = fields.mapping(row, "input_output"), fields.optional(row, "starter_code")
    function, question = str(found.get("fn_name") or ""), fields.text(row, "question")
    source = "apps" if "problem_id" in row else "taco"
    return Problem(
        id=f"apps/{fields.name(row, 'problem_id')}" if "problem_id" in row else fields.hashed("taco", question, found),
        prompt=prompts.to_solve(question, starter, function),
        starter=starter,
        tests=cases.columns(found, starter=starter),
        limits=bounds.limits(row),
        solutions=programs.solutions(_solutions(row)),
        source=source,
        licence=fields.optional(row, "licence", "license"),
        provenance=Provenance(url=fields.optional(row, "url")),
        meta=_meta(row),
    )


def _solutions(row: Row) -> list[Any]:
    """The programs, which are a list, or JSON of one. Other text, as of a list that was cut off, is no program."""
    found = fields.parsed(row, "solutions")
    if found is not None and not isinstance(found, list):
        raise ValueError(f"field solutions should be a list, but is {kind_of(found)}")
    return found or []


def _meta(row: Row) -> dict[str, Any] | None:
    return fields.meta(
        date=row.get("date"),
        difficulty=row.get("difficulty"),
        platform=row.get("source"),
        tags=fields.texts(row.get("tags")),
        skills=fields.texts(row.get("skill_types")),
        title=row.get("name"),
    )


READER = Reader("taco", "TACO, TACO-verified and APPS", is_mine, make)
