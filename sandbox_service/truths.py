"""Ground truths, as trainers carry them beside a prompt, as fields of a submission.

A trainer has one column for what is right, and everybody fills it otherwise: with tests of ours, with the name of a
suite, with columns or records of inputs and outputs, with assertions; often as JSON text. What cannot be told for
certain is refused: a test that is read wrongly pays for wrong programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sandbox_service import cases
from sandbox_service.schema import SUITE_ID, AssertTest, TestCase

OURS = ("tests", "suite", "sample", "checker", "limits", "language", "extraction", "reward", "mode", "stop_on_failure")
INSIDE = ("test_cases", "unit_tests", "input_output", "ground_truth", "tests")  # where others keep the tests themselves
MOST_NESTED = 4

_OUR_TYPES = ["stdin", "call", "assert"]  # a list, as what is asked may be anything


def read(truth: Any) -> dict[str, Any]:
    """A submission's fields: `tests` or `suite`, and perhaps `checker`, `limits` and the like.

    Tests are `TestCase`s or, where they are ours already, as they came. Raises ValueError for what is not understood.
    """
    try:
        return _read(truth, MOST_NESTED)
    except RecursionError:
        raise ValueError("lists in lists, too deep to be read") from None


def _read(truth: Any, depth: int) -> dict[str, Any]:
    if depth == 0:
        raise ValueError("the tests are wrapped too deep to be found")
    if isinstance(truth, str):
        return _text(truth, depth)
    if isinstance(truth, Mapping):
        return _mapping(truth, depth)
    if isinstance(truth, Sequence) and not isinstance(truth, bytes):
        return {"tests": _list(truth)}
    raise ValueError(f"tests should be a list, an object or text, and are a {type(truth).__name__}")


def _text(text: str, depth: int) -> dict[str, Any]:
    if re.fullmatch(SUITE_ID, text):
        return {"suite": text}
    try:
        value = from_json(text)
    except ValueError as error:
        if re.search(r"^\s*(assert\b|def check\b|check\()", text, re.MULTILINE):
            return {"tests": [AssertTest(code=text)]}
        raise ValueError(f"neither JSON ({error}), nor a suite's name, nor assertions: {text[:60]!r}") from None
    return _read(value, depth - 1)


def _mapping(truth: Mapping[str, Any], depth: int) -> dict[str, Any]:
    ours = {name: truth[name] for name in OURS if truth.get(name) is not None}
    if "suite" in ours or _are_ours(ours.get("tests")):
        return ours
    ours.pop("tests", None)
    return ours | _foreign(truth, depth)


def _foreign(truth: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if "inputs" in truth:
        return {"tests": cases.columns(truth, starter=str(truth.get("starter_code") or ""))}
    for name in ("assert_case", "functional"):  # verl's and Code-R1's words for a test program
        if truth.get(name):
            return {"tests": _programs(truth[name])}
    for name in INSIDE:
        if truth.get(name):
            return _read(_with_function(truth, truth[name]), depth - 1)
    known = ", ".join(("suite", "inputs and outputs", "assert_case", "functional", *INSIDE))
    raise ValueError(f"an object with {', '.join(map(repr, truth)) or 'nothing'} in it; one of these is: {known}")


def _with_function(truth: Mapping[str, Any], inside: Any) -> Any:
    """A function's name may stand beside the tests instead of in them."""
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
            raise ValueError(f"a test should be an object, and is a {type(each).__name__}")
        if "input" not in each or "output" not in each:
            raise ValueError(f"a test should have an input and an output, and has {', '.join(map(repr, each))}")
    return list(cases.records(tests))


def _programs(code: Any) -> list[TestCase]:
    """Test programs; each is a test."""
    programs = [code] if isinstance(code, str) else code
    if not isinstance(programs, Sequence) or not all(isinstance(each, str) for each in programs):
        raise ValueError("assertions should be text, or a list of texts")
    return [AssertTest(code=each) for each in programs]


def _are_ours(tests: Any) -> bool:
    """Whether these are tests as `schema` has them: each says its type, and nothing that only others say."""
    if not isinstance(tests, Sequence) or isinstance(tests, str) or not tests:
        return False
    return all(isinstance(each, Mapping) and each.get("type") in _OUR_TYPES and "fn_name" not in each for each in tests)
