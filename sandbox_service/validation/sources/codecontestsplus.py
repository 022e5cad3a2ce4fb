"""Reads CodeContests+: test cases, testlib checkers in C++, and right and wrong programs.

Generators of inputs are not run. Checkers and validators need testlib.h, from the folder of SANDBOX_JUDGE_LIBRARIES.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.formats import cases
from sandbox_service.formats.problem import InputValidator, Problem, Solution
from sandbox_service.schema import JudgeProgram, StdinTest
from sandbox_service.validation.sources import bounds, codecontests, fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

LICENCE = "CC-BY-4.0"
LANGUAGES = {"py3": "python", "py2": "python2", "python3": "python"}


def is_mine(row: Row) -> bool:
    """Return whether the row has CodeContests+'s fields."""
    return {"description", "test_cases", "correct_submissions"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If the problem has no test cases.
    """
    checker, validator = fields.optional(row, "checker"), fields.optional(row, "validator")
    found = fields.listing(row, "test_cases")
    if not found:
        raise ValueError("the problem has no test cases")
    tests = [
        StdinTest(input=each["input"], output=each["output"]) if checker else cases.stdin(each["input"], each["output"])
        for each in found
    ]
    return Problem(
        id=f"codecontests+/{fields.text(row, 'id', 'title')}",
        prompt=prompts.to_solve(fields.text(row, "description")),
        tests=list(tests),
        checker=_checker(checker) if checker else None,
        limits=bounds.limits(row),
        solutions=[*_programs(row, "correct_submissions", "AC"), *_programs(row, "incorrect_submissions", "NOT_AC")],
        validators=[InputValidator(code=validator, language="cpp")] if validator else [],
        source="codecontests+",
        licence=LICENCE,
        meta=fields.meta(
            title=row.get("title"),
            platform=row.get("source"),
            true_positive_rate=row.get("true_positive_rate"),
            true_negative_rate=row.get("true_negative_rate"),
        ),
    )


def _checker(source: str) -> JudgeProgram:
    return JudgeProgram(type="program", language="cpp", protocol="testlib", source=source)


def _programs(row: Row, name: str, verdict: str) -> Iterator[Solution]:
    for each in fields.listing(row, name):
        yield programs.one(each["code"], verdict, language=_language(each.get("language")))


def _language(value: object) -> str:
    """The language of a program: a name, or its number in CodeContests' enumeration."""
    if isinstance(value, int) and 0 <= value < len(codecontests.LANGUAGES):
        return codecontests.LANGUAGES[value]
    name = str(value or "unknown").lower()
    return LANGUAGES.get(name, programs.language_of(name))


READER = Reader("codecontests+", "CodeContests+: test cases with testlib checkers", is_mine, make)
