"""Ground truths in every supported format, and the messages for ambiguous ones."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_service.formats import ground_truth
from sandbox_service.schema import AssertTest, CallTest, StdinTest

OURS = [{"type": "stdin", "input": "1\n", "output": "2\n"}]
SUITE = "sha256:" + "0" * 64
STREAMS = [StdinTest(input="1\n", output="2\n"), StdinTest(input="3\n", output="4\n")]
COLUMNS = {"inputs": ["1\n", "3\n"], "outputs": ["2\n", "4\n"]}
RECORDS = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}, {"input": "3\n", "output": "4\n"}]
FUNCTIONS = {"inputs": [[1], [3]], "outputs": [2, 4], "fn_name": "f"}
CALLS = [CallTest(function="f", args=[1], output=2), CallTest(function="f", args=[3], output=4)]
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"
PROGRAMS = [AssertTest(code="assert f(1) == 2"), AssertTest(code="assert f(3) == 4")]


@pytest.mark.parametrize(
    ("truth", "tests"),
    [
        (OURS, OURS),
        ({"tests": OURS}, OURS),
        (COLUMNS, STREAMS),
        (FUNCTIONS, CALLS),
        (RECORDS, STREAMS),
        ({"test_cases": RECORDS}, STREAMS),
        ({"unit_tests": COLUMNS}, STREAMS),
        ({"input_output": json.dumps(COLUMNS)}, STREAMS),
        ({"ground_truth": json.dumps(FUNCTIONS)}, CALLS),
        ({"ground_truth": {"tests": OURS}}, OURS),
        ({"fn_name": "f", "unit_tests": {"inputs": [[1], [3]], "outputs": [2, 4]}}, CALLS),
        ({"tests": RECORDS}, STREAMS),
        (["assert f(1) == 2", "assert f(3) == 4"], PROGRAMS),
        ({"assert_case": ["assert f(1) == 2", "assert f(3) == 4"]}, PROGRAMS),
        ({"functional": CHECK, "inputs": None, "outputs": None}, [AssertTest(code=CHECK)]),
        ({"functional": CHECK}, [AssertTest(code=CHECK)]),
        (CHECK, [AssertTest(code=CHECK)]),
        ("assert f(1) == 2", PROGRAMS[:1]),
    ],
)
def test_each_shape_is_read_as_it_is_and_as_json(truth: Any, tests: list[Any]) -> None:
    assert ground_truth.read(truth) == {"tests": tests}
    if not isinstance(truth, str):
        assert ground_truth.read(json.dumps(truth)) == {"tests": tests}


def test_a_suite_is_named() -> None:
    assert (
        ground_truth.read(SUITE)
        == ground_truth.read({"suite": SUITE})
        == ground_truth.read(json.dumps(SUITE))
        == {"suite": SUITE}
    )


def test_what_else_a_submission_has_is_kept() -> None:
    more = {"checker": {"type": "lines"}, "limits": {"cpu_seconds": 1}, "language": "py", "sample": {"count": 1}}
    assert ground_truth.read({"tests": OURS, **more, "difficulty": 3, "id": "x"}) == {"tests": OURS, **more}
    assert ground_truth.read({**COLUMNS, **more}) == {"tests": STREAMS, **more}
    assert ground_truth.read({"ground_truth": json.dumps(COLUMNS), **more}) == {"tests": STREAMS, **more}


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        (None, "null"),
        (3, "a number"),
        (b"[]", "bytes"),
        ("", "neither JSON"),
        ("42", "a number"),
        ("the answer is 3", "neither JSON"),
        ("sha256:123", "neither JSON"),
        ([], "no tests"),
        ({}, "no fields"),
        ({"answer": 3}, "'answer'"),
        ({"suite": None}, "suite"),
        ([1], "is a number"),
        ([{"input": "1"}], "output"),
        ([{"output": "1"}], "input"),
        ([{"input": "1", "output": "2", "type": "graph"}], "graph"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs but 0 outputs"),
        ({"inputs": "12", "outputs": ["1", "2"]}, "inputs"),
        ({"inputs": [], "outputs": []}, "no tests"),
        ({"inputs": [{"a": 1}], "outputs": ["1"]}, "object"),
        ({"inputs": ["1"], "outputs": [None]}, "null"),
        ({"assert_case": ["assert f()", " "]}, "empty"),
        ({"assert_case": 3}, "assertions"),
        ({"assert_case": [3]}, "text"),
        ({"tests": {"tests": {"tests": {"tests": {"tests": OURS}}}}}, "too many layers"),
        ("[" * 100_000, "neither JSON"),
        ("1" * 10_000, "out of range"),
        ('"\\ud800"', "neither JSON"),
    ],
)
def test_what_is_not_certain_is_refused_with_a_reason(truth: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ground_truth.read(truth)


def nested(depth: int) -> Any:
    value: Any = "1"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("key", ["inputs", "outputs"])
def test_lists_in_lists_without_end_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="should be text"):
        ground_truth.read(COLUMNS | {key: [nested(100_000), "1"]})


KEYS = st.sampled_from(
    ["tests", "suite", "inputs", "outputs", "input", "output", "type", "testtype", "fn_name", "metadata", "func_name",
     "test_cases", "unit_tests", "input_output", "ground_truth", "assert_case", "functional", "starter_code", "args"]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
    st.sampled_from(["stdin", "call", "functional", "assert x", CHECK, SUITE, "[1]", "{}", '{"inputs": ["1"]}']),
)  # fmt: skip
SHAPES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@settings(deadline=None)  # a machine may be slow
@given(SHAPES)
def test_whatever_comes_is_read_or_refused(truth: Any) -> None:
    for given_as in (truth, json.dumps(truth)):
        try:
            found = ground_truth.read(given_as)
        except ValueError:
            continue
        assert "tests" in found or "suite" in found


def test_a_text_of_many_lines_is_read_in_linear_time() -> None:
    begin = time.process_time()
    with pytest.raises(ValueError, match="neither JSON"):
        ground_truth.read("x" + "\n" * 500_000)
    assert time.process_time() - begin < 1.0
    [test] = ground_truth.read("import math\n\n  \n\n  assert f(1) == 2")["tests"]
    assert test.code.endswith("assert f(1) == 2")
