"""Reads problems whose programs have known verdicts: `{id, kind, statement, tests, solutions, checker, …}`.

`kind` is stdin, call_args or assert. `expected_verdict` of a solution lists the right verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem, Provenance, Solution
from sandbox_service.schema import AssertTest, CallTest, Checker, TestCase
from sandbox_service.validation.sources import bounds, fields, humaneval, kattis, prompts
from sandbox_service.validation.sources.programs import language_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has these fields."""
    return {"id", "kind", "statement", "tests", "solutions"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If no checker can compare its answers.
    """
    if row["kind"] not in _KINDS:
        raise ValueError(f"kind is {row['kind']!r}: {', '.join(_KINDS)} are known")
    name = fields.text(row, "id")
    return Problem(
        id=name,
        prompt=_prompt(row),
        language=language_of(fields.optional(row, "language") or "python"),
        tests=[_KINDS[row["kind"]](row, test) for test in fields.listing(row, "tests")],
        checker=_checker(row),
        limits=bounds.limits(row),
        solutions=[_solution(each, is_kattis=_is_kattis(row)) for each in fields.listing(row, "solutions")],
        source=name.partition("/")[0].lower() if "/" in name else "",
        licence=fields.optional(row, "licence", "license"),
        provenance=Provenance(url=fields.optional(row, "source")),
        meta=fields.meta(bug_type=row.get("bug_type"), failure_symptoms=row.get("failure_symptoms")),
    )


def _stdin(_: Row, test: Row) -> TestCase:
    return cases.stdin(test["input"], test["output"])


def _call(row: Row, test: Row) -> TestCase:
    return CallTest(function=fields.text(row, "fn_name"), args=test["args"], output=test["output"])


def _assert(row: Row, test: Row) -> TestCase:
    """A test program with the code before the function in the statement; LeetCode's with its nodes and imports."""
    entry, statement = fields.optional(row, "fn_name"), fields.optional(row, "statement")
    prelude = "@leetcode" if entry.startswith("Solution") else humaneval.before(statement, entry)
    return AssertTest(code=fields.text(test, "assert"), entry_point=entry or None, prelude=prelude or None)


_KINDS: Mapping[str, Callable[[Row, Row], TestCase]] = {"stdin": _stdin, "call_args": _call, "assert": _assert}


def _prompt(row: Row) -> str:
    statement, function = fields.optional(row, "statement"), fields.optional(row, "fn_name")
    if row["kind"] == "stdin":
        return prompts.to_solve(statement)
    if function and f"def {function}" in statement:
        return f"{prompts.TO_COMPLETE}\n\n{prompts.fenced(statement)}"
    if not function:
        return prompts.to_pass(statement, (fields.text(test, "assert") for test in fields.listing(row, "tests")))
    return prompts.to_solve(statement, function=function)


def _checker(row: Row) -> Checker | None:
    checker: Any = row.get("checker") or {}
    if checker.get("type", "default") != "default":
        raise ValueError(f"the problem needs a checker of its own ({checker['type']}), and none is known here")
    return kattis.checker(str(checker.get("flags") or "")) if _is_kattis(row) else None


def _is_kattis(row: Row) -> bool:
    """Return whether the problem is judged as Kattis does: by its format, or by the flags of its validator."""
    return "flags" in (row.get("checker") or {}) or str(row.get("format", "")).startswith("kattis")


def _solution(row: Row, *, is_kattis: bool) -> Solution:
    verdicts = row["expected_verdict"]
    return Solution(
        code=row["code"],
        language=language_of(fields.optional(row, "language") or "python"),
        verdicts=[*verdicts, "MLE"] if is_kattis and "RTE" in verdicts else verdicts,  # as in kattis.VERDICTS
        name=fields.optional(row, "file"),
    )


READER = Reader("labelled", "problems with programs whose verdicts are known", is_mine, make)
