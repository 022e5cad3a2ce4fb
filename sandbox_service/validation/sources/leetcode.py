"""Reads LeetCodeDataset, to 0.3.0 (descriptions in `meta`) and from 0.3.1 (in fields of their own)."""

from __future__ import annotations

from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest
from sandbox_service.validation.sources import bounds, fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "Apache-2.0"  # the data set's; the statements are LeetCode's


def is_mine(row: Row) -> bool:
    """Return whether the row has LeetCodeDataset's fields; HumanEval's rows have a canonical_solution instead."""
    needed = {"task_id", "entry_point", "test"} <= row.keys() and "canonical_solution" not in row
    return needed and bool({"completion", "query", "problem_description"} & row.keys())


def make(row: Row) -> Problem:
    """Return a problem with a method of `Solution`, and a test program that calls it."""
    about = {**fields.mapping(row, "meta"), **row}
    starter = fields.optional(about, "starter_code", "lang_code")
    test = AssertTest(code=fields.text(row, "test"), entry_point=fields.text(row, "entry_point"), prelude="@leetcode")
    return Problem(
        id=f"leetcode/{fields.text(row, 'task_id')}",
        prompt=_prompt(about, starter),
        starter=starter,
        tests=[test],
        limits=bounds.limits(about),
        solutions=programs.solutions(_whole(row)),
        source="leetcode",
        licence=fields.optional(row, "licence", "license") or LICENCE,
        meta=_meta(about),
    )


def _prompt(about: Row, starter: str) -> str:
    """The description if there is one, else `query`, which asks for its own answer format."""
    if description := fields.optional(about, "problem_description"):
        return prompts.to_solve(description, starter)
    return fields.text(about, "query", "question_title")


def _whole(row: Row) -> str:
    """The imports, which are the row's prompt, and the class; or the fenced code of the response."""
    if completion := fields.optional(row, "completion"):
        return f"{fields.optional(row, 'prompt')}\n{completion}"
    return fields.optional(row, "response")


def _meta(about: Row) -> dict[str, Any] | None:
    return fields.meta(
        date=about.get("estimated_date"),
        difficulty=about.get("difficulty"),
        platform="leetcode",
        tags=fields.texts(about.get("tags")),
        title=about.get("question_title"),
        number=about.get("question_id"),
    )


READER = Reader("leetcode", "LeetCodeDataset, before and from 0.3.1", is_mine, make)
