"""Reads mathematics questions with answers, as in DeepScaleR: `{problem, answer, solution}`.

Nothing is run: the submission's language is `text`, and the checker `math` compares the boxed answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import Checker, StdinTest
from sandbox_service.validation.sources import fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has these fields and no tests."""
    return {"problem", "answer"} <= row.keys() and not {"tests", "input_output"} & row.keys()


def make(row: Row) -> Problem:
    """Return a question with a boxed answer."""
    question, right = fields.text(row, "problem"), answers(row.get("answer"))
    number = row.get("id") or row.get("problem_id")
    return problem(
        f"math/{number}" if number else fields.hashed("math", question, right),
        question.strip(),
        right,
        "math",
        meta=fields.meta(
            date=row.get("date"),
            difficulty=row.get("difficulty"),
            platform=row.get("source"),
            tags=fields.texts(row.get("tags")),
        ),
    )


def problem(name: str, prompt: str, right: Sequence[str], source: str, meta: dict[str, Any] | None = None) -> Problem:
    """Return a mathematics problem.

    Args:
        name: Its id.
        prompt: The question.
        right: The right answers; at least one. The first becomes a reference, which must pass its own test.
        source: Name of the data set.
        meta: More fields.

    Raises:
        ValueError: `right` is empty.
    """
    if not right:
        raise ValueError("there is no answer")
    return Problem(
        id=name,
        prompt=prompt if "\\boxed" in prompt else f"{prompt}\n\n{prompts.IN_A_BOX}",
        language="text",
        tests=[expected(right)],
        checker=Checker(type="math"),
        solutions=[Solution(code=right[0], language="text", name="answer")],
        source=source,
        meta=meta,
    )


def expected(right: Sequence[str]) -> StdinTest:
    """Return a test that any of the right answers passes."""
    return StdinTest(output=right[0] if len(right) == 1 else list(right))


def answers(value: Any) -> list[str]:
    """Return the right answers in a value: one answer or a list. A number is written as Python writes it."""
    found = value if isinstance(value, list) else [value]
    if any(isinstance(each, (dict, list, bool)) for each in found):
        raise ValueError("the answer is neither text nor a number")
    return [str(each).strip() for each in found if each is not None and str(each).strip()]


READER = Reader("math", "mathematics with answers (DeepScaleR)", is_mine, make)
