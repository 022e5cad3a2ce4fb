"""Reads CodeContests: public, hidden and generated tests, and right and wrong programs in four languages.

Some of its problems accept several answers, and some tests are cut; the checks find both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import StdinTest
from sandbox_service.validation.sources import bounds, fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "CC-BY-4.0"
LANGUAGES = ("unknown", "python2", "cpp", "python", "java")
PLATFORMS = ("", "codechef", "codeforces", "hackerearth", "codejam", "atcoder", "aizu")
DIFFICULTIES = ("", "easy", "medium", "hard", "harder", "hardest", "external")
GROUPS = ("public_tests", "private_tests", "generated_tests")


def is_mine(row: Row) -> bool:
    """Return whether the row has CodeContests' fields."""
    return {"description", "public_tests", "private_tests"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For programs that read or write files.
    """
    for name in ("input_file", "output_file"):
        if fields.optional(row, name):
            raise ValueError(f"the programs use a file ({row[name]}), not standard input and output")
    tests: list[Any] = [test for name in GROUPS for test in _tests(row, name)]
    return Problem(
        id=f"codecontests/{fields.text(row, 'name')}",
        prompt=prompts.to_solve(fields.text(row, "description")),
        tests=tests,
        limits=bounds.limits(row),
        solutions=[*_programs(row, "solutions", "AC"), *_programs(row, "incorrect_solutions", "NOT_AC")],
        source="codecontests",
        licence=LICENCE,
        meta=_meta(row),
    )


def _tests(row: Row, name: str) -> Iterator[StdinTest]:
    for given, wanted in _pairs(row, name, "input", "output"):
        yield cases.stdin(given, wanted)


def _programs(row: Row, name: str, verdict: str) -> Iterator[Solution]:
    for language, code in _pairs(row, name, "language", "solution"):
        yield programs.one(code, verdict, language=_named(LANGUAGES, language) or "unknown")


def _pairs(row: Row, name: str, first: str, second: str) -> Iterator[tuple[Any, Any]]:
    """Pairs from two columns, as on the hub, or from a list of records, as other tools write them."""
    found = fields.parsed(row, name) or []
    if isinstance(found, dict):
        firsts, seconds = found.get(first) or (), found.get(second) or ()
        if len(firsts) != len(seconds):
            raise ValueError(f"{name} has {len(firsts)} entries of {first} but {len(seconds)} of {second}")
        yield from zip(firsts, seconds, strict=True)
    else:
        yield from ((each[first], each[second]) for each in found)


def _meta(row: Row) -> dict[str, Any] | None:
    contest = {"id": row.get("cf_contest_id"), "index": row.get("cf_index")} if row.get("cf_contest_id") else None
    return fields.meta(
        difficulty=row.get("cf_rating") or _named(DIFFICULTIES, row.get("difficulty")),
        platform=_named(PLATFORMS, row.get("source")),
        tags=fields.texts(row.get("cf_tags")),
        contest=contest,
    )


def _named(names: Sequence[str], value: Any) -> str:
    """The name of an enumeration's value, which may be given by its number; empty if it is unknown."""
    if isinstance(value, str):
        return {"python3": "python"}.get(value.lower(), value.lower())
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else ""


READER = Reader("codecontests", "CodeContests, with right and wrong programs", is_mine, make)
