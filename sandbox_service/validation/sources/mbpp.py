"""MBPP (full and sanitised), and MBPP+ as its data set on the hub has it: a sentence, and what must hold of a function.

The sentence alone does not say what the function is called. As is usual, the assertions (of MBPP, for "+" as well) are
part of the prompt.
"""

from __future__ import annotations

from sandbox_service.problem import Problem
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

CPU_SECONDS, CPU_SECONDS_PLUS = 4.0, 20.0
LICENCE, LICENCE_PLUS = "CC-BY-4.0", "Apache-2.0"


def is_mine(row: Row) -> bool:
    """By its fields."""
    return {"task_id", "code", "test_list"} <= row.keys() and ("text" in row or "prompt" in row)


def make(row: Row) -> Problem:
    """A function to write."""
    asserted = _asserted(row)
    test = fields.optional(row, "test")
    return Problem(
        id=f"{'mbpp+' if test else 'mbpp'}/{row['task_id']}",
        prompt=prompts.to_pass(fields.text(row, "text", "prompt"), asserted),
        tests=[AssertTest(code=test or _program(row, asserted))],
        limits=Limits(cpu_seconds=CPU_SECONDS_PLUS if test else CPU_SECONDS),
        solutions=programs.solutions(fields.optional(row, "code")),
        source="mbpp+" if test else "mbpp",
        licence=LICENCE_PLUS if test else LICENCE,
    )


def _asserted(row: Row) -> list[str]:
    found = [str(each) for each in fields.listing(row, "test_list")]
    if not found:
        raise ValueError("test_list is empty: nothing says what the function is called")
    return found


def _program(row: Row, asserted: list[str]) -> str:
    """All assertions as one program. What it takes to set them up may name the candidate's classes, so it is in it."""
    needed = [fields.optional(row, "test_setup_code"), *map(str, fields.listing(row, "test_imports"))]
    return "\n".join([*filter(None, needed), *asserted])


READER = Reader("mbpp", "MBPP (full, sanitised) and MBPP+", is_mine, make)
