"""Reads MultiPL-E: functions of HumanEval and MBPP to complete in other languages, with test programs.

The prompt of a row leaves a block open, which its test program closes. Models are asked for the whole function here, so
the closing bracket is taken from the test program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox_service.formats.problem import Problem
from sandbox_service.languages.assertions.programs import LANGUAGES as TESTED
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "MIT"
LIMITS = Limits(cpu_seconds=10, wall_seconds=60)
LANGUAGES: Mapping[str, str] = {"js": "javascript", "ts": "typescript", "go_test.go": "go", "rs": "rust"}

_CLOSING = re.compile(r"\A\s*\}[ \t]*;?[ \t]*(?=\n|\Z)")


def is_mine(row: Row) -> bool:
    """Return whether the row has MultiPL-E's fields."""
    return {"name", "language", "prompt", "tests", "stop_tokens"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For languages whose test programs are not run here.
    """
    written = fields.text(row, "language")
    language = LANGUAGES.get(written, written)
    if language not in TESTED:
        raise ValueError(f"test programs in {written} are not run here; {', '.join(sorted(TESTED))} are")
    prompt = fields.text(row, "prompt")
    return Problem(
        id=f"multipl-e/{language}/{fields.text(row, 'name')}",
        prompt=prompts.to_complete(prompt, language),
        starter=prompt,
        language=language,
        tests=[AssertTest(code=_CLOSING.sub("", fields.text(row, "tests")))],
        limits=LIMITS,
        source="multipl-e",
        licence=LICENCE,
        meta=fields.meta(doctests=row.get("doctests"), prompt_terminology=row.get("prompt_terminology")),
    )


READER = Reader("multipl-e", "MultiPL-E: C++, Java, JavaScript, TypeScript, Go, Rust", is_mine, make)
