"""Reads MBPP (full and sanitised), and MBPP+ as on the hub: a sentence, and assertions about a function.

The sentence alone does not name the function. As is usual, the assertions (of MBPP, for "+" as well) are part of the
prompt.
"""

from __future__ import annotations

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

CPU_SECONDS, CPU_SECONDS_PLUS = 4.0, 20.0
LICENCE, LICENCE_PLUS = "CC-BY-4.0", "Apache-2.0"


def is_mine(row: Row) -> bool:
    """Return whether the row has MBPP's fields."""
    return {"task_id", "code", "test_list"} <= row.keys() and ("text" in row or "prompt" in row)


def make(row: Row) -> Problem:
    """Return a problem with a function to write."""
    asserted = _asserted(row)
    test = fields.optional(row, "test")
    return Problem(
        id=f"{'mbpp+' if test else 'mbpp'}/{fields.name(row, 'task_id')}",
        prompt=prompts.to_pass(fields.text(row, "text", "prompt"), asserted),
        tests=[AssertTest(code=test or _program(row, asserted))],
        limits=Limits(cpu_seconds=CPU_SECONDS_PLUS if test else CPU_SECONDS),
        solutions=programs.solutions(fields.optional(row, "code")),
        source="mbpp+" if test else "mbpp",
        licence=LICENCE_PLUS if test else LICENCE,
    )


def _asserted(row: Row) -> list[str]:
    found = fields.listing(row, "test_list")
    if not found:
        raise ValueError("test_list is empty, so the function's name is unknown")
    if not all(isinstance(each, str) and each.strip() for each in found):
        raise ValueError("test_list has an entry that is no text")
    return found


def _program(row: Row, asserted: list[str]) -> str:
    """All assertions as one program, with their set-up code, which may name classes of the candidate."""
    needed = [fields.optional(row, "test_setup_code"), *map(str, fields.listing(row, "test_imports"))]
    return "\n".join([*filter(None, needed), *asserted])


READER = Reader("mbpp", "MBPP (full, sanitised) and MBPP+", is_mine, make)
