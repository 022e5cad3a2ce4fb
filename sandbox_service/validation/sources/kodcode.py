"""KodCode: questions, solutions and tests made by models; the tests are written for pytest."""

from __future__ import annotations

from typing import Any

from sandbox_service.problem import Problem
from sandbox_service.validation.sources import bounds, fields, programs, prompts, pytests
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "CC-BY-NC-4.0"


def is_mine(row: Row) -> bool:
    """By its fields."""
    return {"question", "solution"} <= row.keys() and bool({"test", "test_code"} & row.keys())


def make(row: Row) -> Problem:
    """Functions to write, whose names the tests know."""
    question, test = fields.text(row, "question"), fields.text(row, "test", "test_code")
    number = fields.optional(row, "question_id")
    tests: list[Any] = [*pytests.programs(test)]
    return Problem(
        id=f"kodcode/{number}" if number else fields.hashed("kodcode", question, test),
        prompt=_prompt(row, question),
        tests=tests,
        limits=bounds.limits(row),
        solutions=programs.solutions(fields.optional(row, "solution")),
        source="kodcode",
        licence=fields.optional(row, "licence", "license") or LICENCE,
        meta=fields.meta(
            difficulty=row.get("gpt_difficulty"),
            platform=row.get("subset"),
            style=row.get("style"),
            pass_rate=row.get("gpt_pass_percentage"),
        ),
    )


def _prompt(row: Row, question: str) -> str:
    """With what is called: a statement does not always say."""
    declared = [each.get("function_declaration") for each in fields.listing(row, "test_info")]
    shown = "\n".join(str(each).rstrip() for each in declared if each)
    asked = f"{prompts.TO_WRITE}\n\n{question.strip()}"
    return f"{asked}\n\nWhat is tested:\n\n{prompts.fenced(shown)}" if shown else asked


READER = Reader("kodcode", "KodCode", is_mine, make)
