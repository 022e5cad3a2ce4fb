"""Reads HumanEval-X and HumanEvalPack: HumanEval in other languages, with right and, in the latter, buggy functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.languages.assertions.programs import LANGUAGES as TESTED
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "Apache-2.0"
LIMITS = Limits(cpu_seconds=10, wall_seconds=60)
NAMES = ("cpp", "java", "javascript", "go", "rust", "python")
LANGUAGES: Mapping[str, str] = {name: name for name in NAMES} | {"js": "javascript"}


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that both have."""
    return {"task_id", "prompt", "declaration", "canonical_solution", "test"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem. Raises ValueError for a language whose test programs are not run here."""
    task = fields.text(row, "task_id")
    written = task.partition("/")[0]
    language = LANGUAGES.get(written.lower(), "")
    if language not in {*TESTED, "python"}:
        raise ValueError(f"test programs in {written} are not run here")
    prompt = fields.text(row, "prompt")
    setup = fields.optional(row, "test_setup") if language == "go" else ""
    entry = fields.optional(row, "entry_point") if language == "python" else ""
    return Problem(
        id=f"humaneval-x/{task}",
        prompt=prompts.to_complete(prompt, language),
        starter=prompt,
        language=language,
        tests=[AssertTest(code="\n".join(filter(None, [setup, fields.text(row, "test")])), entry_point=entry or None)],
        limits=LIMITS,
        solutions=[*_solutions(row, language)],
        source="humaneval-x",
        licence=LICENCE,
        meta=fields.meta(bug_type=row.get("bug_type"), failure_symptoms=row.get("failure_symptoms")),
    )


def _solutions(row: Row, language: str) -> Iterator[Solution]:
    """Whole programs: imports, the declaration, and a body."""
    before = [text for name in ("import", "declaration") if (text := fields.optional(row, name))]
    for name, verdict in (("canonical_solution", "AC"), ("buggy_solution", "NOT_AC")):
        if body := fields.optional(row, name):
            yield programs.one("\n".join(before) + body, verdict, language=language, name=name)


READER = Reader("humaneval-x", "HumanEval-X and HumanEvalPack", is_mine, make)
