"""Reads rows for verl's trainers: Archer's code, LiveCodeBench and mathematics, Code-R1's, rLLM's.

They share the place of the truth (`reward_model.ground_truth`, mostly JSON text), not its form: a test program,
columns, records, pytest tests, or an answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, TestCase
from sandbox_service.validation.sources import bounds, fields, livecodebench, mathematics, programs, pytests
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

_MATHEMATICS = re.compile(r"math|aime|amc|olympiad|minerva|deepscaler")
_CHECKED = re.compile(r"^check\((.+)\)\s*\Z", re.MULTILINE)


def is_mine(row: Row) -> bool:
    """Return whether the row has verl's fields."""
    return {"data_source", "prompt", "reward_model"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem, with the conversation unchanged."""
    truth = fields.mapping(row, "reward_model").get("ground_truth")
    made = _mathematics(truth) if _is_mathematics(row, truth) else _code(row, truth)
    return Problem.model_validate(
        {
            **made,
            "id": _name(row, truth),
            "messages": _messages(row),
            "source": fields.text(row, "data_source"),
            "meta": fields.meta(ability=row.get("ability"), platform=_more(row).get("dataset")),
        }
    )


def _is_mathematics(row: Row, truth: Any) -> bool:
    ability, source = str(row.get("ability") or "").lower(), str(row["data_source"]).lower()
    if ability:
        return ability.startswith("math")
    return bool(_MATHEMATICS.search(source)) or not isinstance(_parsed(truth), (dict, list))


def _mathematics(truth: Any) -> dict[str, Any]:
    """Fields for an answer, or for a list of right answers, in JSON or plain text."""
    found = _parsed(truth)
    right = mathematics.answers(found if isinstance(found, list) else truth)
    made = mathematics.problem("answer", "asked", right, "")
    return {name: getattr(made, name) for name in ("language", "tests", "checker", "solutions")}


def _code(row: Row, truth: Any) -> dict[str, Any]:
    found = _parsed(truth)
    if found in (None, "", [], {}):
        raise ValueError("reward_model.ground_truth is missing or empty")
    made = {"tests": _tests(found), "solutions": programs.solutions(_more(row).get("reference"))}
    if str(row["data_source"]).startswith("livecodebench"):
        own = bounds.limits(_more(row), livecodebench.CPU_SECONDS, livecodebench.MEMORY_BYTES)
        return {**made, "checker": livecodebench.CHECKER, "limits": own}
    return {**made, "limits": bounds.limits(_more(row))}


def _tests(found: Any) -> list[TestCase]:
    """The tests. Of an object, the field that is not empty: tables give every row all fields."""
    if not isinstance(found, dict):
        return cases.either(found)
    if functional := found.get("functional"):
        return [_program(str(functional))]
    if tests := found.get("pytest"):
        return [*pytests.programs(str(tests))]
    if found.get("inputs") or found.get("outputs"):
        return cases.either(found)
    raise ValueError(f"reward_model.ground_truth has {', '.join(map(str, found))}: none of them is a kind of tests")


def _program(code: str) -> AssertTest:
    """A test program; `check(Solution().f)` at its end names the candidate."""
    checked = _CHECKED.search(code)
    return AssertTest(code=code, entry_point=checked[1] if checked else None, prelude="@leetcode")


def _parsed(truth: Any) -> Any:
    """The JSON value of a text, or the text itself."""
    if not isinstance(truth, str):
        return truth
    try:
        return json.loads(truth)
    except (ValueError, RecursionError):
        return truth


def _messages(row: Row) -> list[dict[str, Any]]:
    prompt = row["prompt"]
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return [{"role": each["role"], "content": each["content"]} for each in prompt]


def _name(row: Row, truth: Any) -> str:
    """An id from the row's index, which verl's rows may lack."""
    source, more = fields.text(row, "data_source"), _more(row)
    if more.get("index") is None:
        return fields.hashed(source, row["prompt"], truth)
    return "/".join(str(each) for each in (source, more.get("split"), more["index"]) if each not in (None, ""))


def _more(row: Row) -> dict[str, Any]:
    return fields.mapping(row, "extra_info")


READER = Reader("verl", "verl's rows: Archer, Code-R1, rLLM", is_mine, make)
