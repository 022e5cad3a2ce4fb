"""Reads LiveCodeBench, code_generation and code_generation_lite: public and hidden tests, by stdin or by a call.

Expected output is compared as LiveCodeBench does (numbers by their exact value, without rounding), except that line
ends are ignored. There are no solutions.
"""

from __future__ import annotations

import json
from typing import Any

from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.formats.unpacking import packed_text
from sandbox_service.schema import Checker
from sandbox_service.validation.sources import bounds, fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

CPU_SECONDS = 6.0  # LiveCodeBench's runner: 6 s a test
MEMORY_BYTES = 2 << 30
CHECKER = Checker(type="tokens", float_tolerance=0.0)


def is_mine(row: Row) -> bool:
    """Return whether the row has LiveCodeBench's fields."""
    return {"question_content", "public_test_cases", "question_id"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For tests that cannot be read.
    """
    starter = fields.optional(row, "starter_code")
    function = str(fields.mapping(row, "metadata").get("func_name") or "")
    tests = [*_tests(row, "public_test_cases"), *_tests(row, "private_test_cases")]
    return Problem(
        id=f"livecodebench/{fields.name(row, 'question_id')}",
        prompt=prompts.to_solve(fields.text(row, "question_content"), starter),
        starter=starter,
        tests=cases.records(tests, function, starter),
        checker=CHECKER,
        limits=bounds.limits(row, CPU_SECONDS, MEMORY_BYTES),
        source="livecodebench",
        meta=fields.meta(
            date=row.get("contest_date"),
            difficulty=row.get("difficulty"),
            platform=row.get("platform"),
            title=row.get("question_title"),
            contest=row.get("contest_id"),
        ),
    )


def _tests(row: Row, name: str) -> list[Any]:
    """Tests as plain or compressed JSON."""
    value = row.get(name)
    if not isinstance(value, str):
        return fields.listing(row, name)
    try:
        found = json.loads(value)
    except ValueError:
        found = fields.parsed({name: _unpacked(value, name)}, name)
    if not isinstance(found, list):
        raise ValueError(f"{name} should be a list, but is {kind_of(found)}")
    return found


def _unpacked(text: str, name: str) -> str:
    try:
        return packed_text(text)
    except ValueError as trouble:
        raise ValueError(f"{name} is neither JSON nor packed: {trouble}") from None


READER = Reader("livecodebench", "LiveCodeBench, whole or lite", is_mine, make)
