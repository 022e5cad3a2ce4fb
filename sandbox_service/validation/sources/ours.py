"""Reads problems in this project's own format, `sandbox_service.formats.problem`."""

from __future__ import annotations

from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has an id, a prompt, and tests or a suite."""
    prompt, graded = {"prompt", "messages"} & row.keys(), {"tests", "suite"} & row.keys()
    return "id" in row and bool(prompt and graded) and "kind" not in row


def make(row: Row) -> Problem:
    """Return the problem unchanged, with its provenance."""
    return Problem.model_validate(dict(row))


READER = Reader("problem", "our own form", is_mine, make)
