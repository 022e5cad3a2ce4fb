"""Problems in the form that they are written, trained on and evaluated in: `sandbox_service.problem`."""

from __future__ import annotations

from sandbox_service.problem import Problem
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """An id, something that is asked, and something that it is graded by."""
    asked, graded = {"prompt", "messages"} & row.keys(), {"tests", "suite"} & row.keys()
    return "id" in row and bool(asked and graded) and "kind" not in row


def make(row: Row) -> Problem:
    """As it is, where it is from included."""
    return Problem.model_validate(dict(row))


READER = Reader("problem", "our own form", is_mine, make)
