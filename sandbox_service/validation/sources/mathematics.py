"""Questions of mathematics with their answers, as DeepScaleR has them: `{problem, answer, solution}`.

Nothing is run: the submission's language is `text`, and the checker `math` compares what is in its box.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox_service.problem import Problem, Solution
from sandbox_service.schema import Checker, StdinTest
from sandbox_service.validation.sources import fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """By its fields; what has tests is no mathematics."""
    return {"problem", "answer"} <= row.keys() and not {"tests", "input_output"} & row.keys()


def make(row: Row) -> Problem:
    """A question to be answered in a box."""
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
    """A problem with these right answers. The first is a reference: it must be right by its own test."""
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
    """Any of the answers is right."""
    return StdinTest(output=right[0] if len(right) == 1 else list(right))


def answers(value: Any) -> list[str]:
    """One, or a list of which any is right. A number is what Python writes."""
    found = value if isinstance(value, list) else [value]
    if any(isinstance(each, (dict, list, bool)) for each in found):
        raise ValueError("an answer is neither text nor a number")
    return [str(each).strip() for each in found if each is not None and str(each).strip()]


READER = Reader("math", "mathematics with answers (DeepScaleR)", is_mine, make)
