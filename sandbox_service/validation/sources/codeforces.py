"""Reads open-r1/codeforces: statements in parts, official tests, and checker programs in Python.

A `generated_checker` is a program of the protocol `codeforces-python`. A problem whose tests are said to be incomplete
keeps the given ones, and its `meta` says so; tests that Codeforces cut, which end with `...`, are left out.
Interactive problems come without an interactor and are refused.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram, StdinTest
from sandbox_service.validation.sources import bounds, fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "CC-BY-4.0"
CUT = "..."  # Codeforces shows long tests up to here
PARTS = (("description", ""), ("input_format", "Input"), ("output_format", "Output"), ("note", "Note"))


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields of open-r1/codeforces."""
    return {"contest_id", "description", "official_tests", "input_format"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If it is interactive, uses files, or has no official tests.
    """
    if fields.optional(row, "interaction_format"):
        raise ValueError("the problem is interactive, and there is no interactor")
    if (mode := fields.optional(row, "input_mode")) not in ("", "stdio"):
        raise ValueError(f"the programs read and write by {mode}, not standard input and output")
    tests = _tests(row)
    if not tests:
        raise ValueError("the problem has no official tests")
    examples = [(_text(each, "input"), _text(each, "output")) for each in fields.listing(row, "examples")]
    return Problem(
        id=f"codeforces/{fields.text(row, 'id')}",
        prompt=prompts.with_examples(prompts.to_solve(_statement(row)), examples),
        tests=tests,
        checker=_checker(row),
        limits=bounds.limits(row),
        source="codeforces",
        licence=LICENCE,
        meta=fields.meta(
            platform="codeforces",
            difficulty=row.get("rating"),
            title=row.get("title"),
            tags=fields.texts(row.get("tags")),
            contest={"id": row.get("contest_id"), "index": row.get("index")},
            tests_are_incomplete=True
            if row.get("official_tests_complete") is False or len(tests) < len(fields.listing(row, "official_tests"))
            else None,
        ),
    )


def _checker(row: Row) -> JudgeProgram | None:
    source = fields.optional(row, "generated_checker")
    return JudgeProgram(type="program", protocol="codeforces-python", source=source) if source else None


def _tests(row: Row) -> list[Any]:
    """The official tests; where a checker program judges them, a test has one answer."""
    found = [(_text(each, "input"), _text(each, "output")) for each in fields.listing(row, "official_tests")]
    pairs = [pair for pair in found if not any(text.rstrip().endswith(CUT) for text in pair)]
    if fields.optional(row, "generated_checker"):
        return [StdinTest(input=given, output=wanted) for given, wanted in pairs]
    return [cases.stdin(given, wanted) for given, wanted in pairs]


def _text(test: Row, name: str) -> str:
    value = test[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} of a test should be text, but is {kind_of(value)}")
    return value


def _statement(row: Row) -> str:
    parts = [(title, fields.optional(row, name).strip()) for name, title in PARTS]
    return "\n\n".join(f"{title}:\n{text}" if title else text for title, text in parts if text)


READER = Reader("codeforces", "open-r1/codeforces: official tests and checker programs", is_mine, make)
