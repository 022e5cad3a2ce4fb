"""Reads ground truths, as trainers keep them beside a prompt, as fields of a submission.

A trainer has one column for the ground truth, with different contents: tests in this service's format, the id of a
suite, columns or records of inputs and outputs, or assertions; often as JSON text. Ambiguous ones are refused: a test
that is misread rewards wrong programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases
from sandbox_service.schema import SUITE_ID, AssertTest, TestCase

SUBMISSION_FIELDS = (
    "tests",
    "suite",
    "sample",
    "checker",
    "interactor",
    "groups",
    "limits",
    "language",
    "extraction",
    "reward",
    "mode",
    "stop_on_failure",
)
NESTED_FIELDS = (
    "test_cases",
    "unit_tests",
    "input_output",
    "ground_truth",
    "tests",
)
MOST_NESTED = 4

_OUR_TYPES = ["stdin", "call", "assert", "interactive"]  # a list, because the value may be unhashable


def read(truth: Any) -> dict[str, Any]:
    """Return the fields of a submission: `tests` or `suite`, and possibly `checker`, `limits` and others.

    Args:
        truth: The ground truth.

    Returns:
        The fields. Tests are models, or unchanged if they have this service's format already.

    Raises:
        ValueError: The format is unknown or a field is invalid.
    """
    try:
        return _read(truth, MOST_NESTED)
    except RecursionError:
        raise ValueError("the tests are nested too deeply") from None


def _read(truth: Any, depth: int) -> dict[str, Any]:
    if depth == 0:
        raise ValueError("the tests are wrapped in too many layers")
    if isinstance(truth, str):
        return _text(truth, depth)
    if isinstance(truth, Mapping):
        return _mapping(truth, depth)
    if isinstance(truth, Sequence) and not isinstance(truth, bytes):
        return {"tests": _list(truth)}
    raise ValueError(f"tests should be a list, an object or text, but are {kind_of(truth)}")


def _text(text: str, depth: int) -> dict[str, Any]:
    if re.fullmatch(SUITE_ID, text):
        return {"suite": text}
    try:
        value = from_json(text)
    except ValueError as error:
        if re.search(r"^[^\S\n]*+(assert\b|def check\b|check\()", text, re.MULTILINE):
            return {"tests": [AssertTest(code=text)]}
        raise ValueError(f"neither JSON ({error}), nor a suite's id, nor assertions: {text[:60]!r}") from None
    return _read(value, depth - 1)


def _mapping(truth: Mapping[str, Any], depth: int) -> dict[str, Any]:
    ours = {name: truth[name] for name in SUBMISSION_FIELDS if truth.get(name) is not None}
    if "suite" in ours or _are_ours(ours.get("tests")):
        return ours
    ours.pop("tests", None)
    return ours | _foreign(truth, depth)


def _foreign(truth: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if truth.get("inputs") or truth.get("outputs"):
        return {"tests": cases.columns(truth, starter=str(truth.get("starter_code") or ""))}
    for name in ("assert_case", "functional"):  # verl's and Code-R1's fields for a test program
        if truth.get(name):
            return {"tests": _programs(truth[name])}
    for name in NESTED_FIELDS:
        if truth.get(name):
            return _read(_with_function(truth, truth[name]), depth - 1)
    known = ", ".join(("suite", "inputs and outputs", "assert_case", "functional", *NESTED_FIELDS))
    raise ValueError(
        f"no tests in an object with {', '.join(map(repr, truth)) or 'no fields'}; expected one of: {known}"
    )


def _with_function(truth: Mapping[str, Any], inside: Any) -> Any:
    """Return the inner tests with the function's name, which may stand beside them."""
    name = truth.get("fn_name")
    if name and isinstance(inside, Mapping) and not inside.get("fn_name"):
        return {**inside, "fn_name": name}
    return inside


def _list(tests: Sequence[Any]) -> list[Any]:
    if _are_ours(tests):
        return list(tests)
    if tests and all(isinstance(each, str) for each in tests):
        return _programs(tests)
    for each in tests:
        if not isinstance(each, Mapping):
            raise ValueError(f"a test should be an object, but is {kind_of(each)}")
        if "input" not in each or "output" not in each:
            raise ValueError(f"a test should have an input and an output, but has {', '.join(map(repr, each))}")
    return list(cases.records(tests))


def _programs(code: Any) -> list[TestCase]:
    """Return a test per test program."""
    programs = [code] if isinstance(code, str) else code
    if not isinstance(programs, Sequence) or not all(isinstance(each, str) for each in programs):
        raise ValueError("assertions should be text, or a list of texts")
    if any(not each.strip() for each in programs):
        raise ValueError("an assertion is empty")
    return [AssertTest(code=each) for each in programs]


def _are_ours(tests: Any) -> bool:
    """Return True for tests in the format of `schema`: each has a known type and no field of other formats."""
    if not isinstance(tests, Sequence) or isinstance(tests, str) or not tests:
        return False
    return all(isinstance(each, Mapping) and each.get("type") in _OUR_TYPES and "fn_name" not in each for each in tests)
