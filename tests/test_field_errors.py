"""The words about wrong fields of a request."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from sandbox_service.errors import fields
from sandbox_service.schema import Submission, TestCase

TEST = {"type": "stdin", "output": "1"}


def described(body: str) -> str:
    """What is said about this submission."""
    with pytest.raises(ValidationError) as refusal:
        Submission.model_validate_json(body)
    return fields.describe(refusal.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "body is wrong: give exactly one of code and completion"),
        ([], "body should be an object"),
        ({"code": "x", "tests": [{"input": "1"}]}, "tests[0] needs a `type`: stdin, call, assert or interactive"),
        (
            {"code": "x", "tests": [TEST, {"type": "foo"}]},
            "tests[1] has an unknown `type`; use stdin, call, assert or interactive",
        ),
        ({"code": "x", "tests": [{"type": "stdin", "output": 1}]}, "tests[0].output should be a string or a list"),
        (
            {"code": "x", "tests": [{"type": "stdin", "outptu": "1"}], "limits": {"cpu_seconds": "a"}},
            "tests[0].output is missing; tests[0].outptu is not known; limits.cpu_seconds should be a number",
        ),
        ({"code": 1, "tests": []}, "code should be a string; tests should have 1 or more entries"),
        ({"code": "x", "tests": {"a": 1}}, "tests should be a list"),
        ({"code": "x", "tests": [TEST], "limits": {"cpu_seconds": 0}}, "limits.cpu_seconds should be greater than 0"),
        ({"code": "x", "tests": [TEST], "stop_on_failure": "maybe"}, "stop_on_failure should be true or false"),
        ({"code": "x", "tests": [TEST], "checker": "tokens"}, "checker should be an object"),
        ({"code": "x", "tests": [TEST], "checker": {"type": "tokens", "x": 1}}, "checker.x is not known"),
        (
            {"code": "x", "tests": [TEST], "reward": {"scheme": "best"}},
            "reward.scheme should be 'all_or_nothing', 'fraction', 'weighted', 'values' or 'score'",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_it_should_be(given: Any, words: str) -> None:
    assert described(json.dumps(given)) == words


def test_what_is_not_json() -> None:
    assert described("nope").startswith("body is not JSON: ")


def test_the_types_of_tests_are_those_of_the_schema() -> None:
    union = get_args(get_args(TestCase)[0])
    types = {get_args(test.model_fields["type"].annotation)[0] for test in union}
    assert fields.WORDS["union_tag_not_found"] == "needs a `type`: stdin, call, assert or interactive"
    assert types == {"stdin", "call", "assert", "interactive"}


def test_many_errors_are_counted_and_few_are_shown() -> None:
    with pytest.raises(ValidationError) as refusal:
        TypeAdapter(list[int]).validate_python(["x"] * 12)
    assert fields.describe(refusal.value, ("ids",)).endswith("ids[7] should be an integer; and 4 more")
    with pytest.raises(ValidationError) as refusal:
        TypeAdapter(list[int]).validate_python(["x"] * 2000)
    assert fields.describe(refusal.value, ("ids",)) == "ids: 2000 fields are wrong"


def test_values_are_not_shown() -> None:
    assert "hunter2" not in described('{"code": ["hunter2"], "tests": [{"type": "stdin", "output": {"a": "hunter2"}}]}')
