"""The quirks of published tests: lines, wrapped results, integer keys that JSON turned into text, units."""

from __future__ import annotations

from datetime import timedelta
from math import inf
from typing import Any

import pytest

from sandbox_service.formats import cases
from sandbox_service.schema import AssertTest, CallTest, StdinTest
from sandbox_service.validation.sources import bounds, programs


def outputs(values: list[Any], starter: str = "") -> list[Any]:
    return cases.unwrapped(values, starter, "f")


def test_a_list_of_lines_is_joined() -> None:
    (test,) = cases.columns({"inputs": [["1", ["2", "3"]]], "outputs": [["4", 5]]})
    assert test == StdinTest(input="1\n2\n3", output="4\n5")


@pytest.mark.parametrize("given", [True, [True], [[1, 2], [3]], [["1", None]], [None], [{"a": 1}], [[["1"]]], inf])
def test_a_value_with_several_forms_as_text_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="should be text"):
        cases.columns({"inputs": [given], "outputs": ["1"]})


def test_every_input_has_an_output() -> None:
    with pytest.raises(ValueError, match="2 inputs but 1 outputs"):
        cases.columns({"inputs": ["1", "2"], "outputs": ["1"]})
    with pytest.raises(ValueError, match="there are no tests"):
        cases.columns({"inputs": [], "outputs": []})
    with pytest.raises(ValueError, match="should be text, but is an object"):
        cases.columns({"inputs": [{"a": 1}], "outputs": ["1"]})


def test_where_arguments_are_text_so_is_the_result() -> None:
    (test,) = cases.columns({"fn_name": "f", "inputs": ['[1, 2]\n"x"'], "outputs": ["[3]"]})
    assert test == CallTest(function="f", args=[[1, 2], "x"], output=[3])
    (test,) = cases.columns({"fn_name": "f", "inputs": [["[1, 2]"]], "outputs": ["[3]"]})
    assert test == CallTest(function="f", args=["[1, 2]"], output="[3]")


def test_results_are_unwrapped_if_all_are_wrapped() -> None:
    assert outputs([[3], [4]]) == [3, 4]
    assert outputs([[3], [4, 5]]) == [[3], [4, 5]]
    assert outputs([[3], 4]) == [[3], 4]


@pytest.mark.parametrize(
    ("annotation", "values", "result"),
    [
        ("int", [[3]], [3]),
        ("List[int]", [[3]], [[3]]),
        ("List[int]", [[[3]]], [[3]]),
        ("list[list[int]]", [[[3]]], [[[3]]]),
        ("Optional[List[int]]", [[3]], [[3]]),
        ("str", [["a"], ["b"]], ["a", "b"]),
        ("List[int]", [[[]], [[1]]], [[], [1]]),
    ],
)
def test_unless_the_starter_says_that_lists_are_returned(annotation: str, values: Any, result: Any) -> None:
    starter = f"class Solution:\n    def f(self, xs: List[int], k: int = 0) -> {annotation}:\n        "
    assert outputs(values, starter) == result


def test_integer_keys_of_the_first_argument_are_turned_back() -> None:
    (test,) = cases.calls("f", [[{"1": "a", "-2": None}, "x"]], [{"1": 2}])
    assert isinstance(test, AssertTest)
    assert "candidate({1: 'a', -2: None}, 'x')" in test.code
    assert "got == {'1': 2}" in test.code


def test_other_keys_are_text() -> None:
    tests = [*cases.calls("f", [[{"1": 2}], [{"one": 2}]], [1, 1]), *cases.calls("f", [[{"1": 2, "01": 3}]], [1])]
    assert all(isinstance(test, CallTest) for test in tests)


def test_arguments_are_json_a_line() -> None:
    (test,) = cases.records([{"input": '[1, 2]\n"a"\n', "output": '{"a": null}', "testtype": "functional"}], "f")
    assert test == CallTest(function="f", args=[[1, 2], "a"], output={"a": None})
    with pytest.raises(ValueError, match="an argument of a call is not JSON: 'one'"):
        cases.records([{"input": "one", "output": "1", "testtype": "functional"}], "f")


def test_a_type_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown type of a test 'interactive'"):
        cases.records([{"input": "", "output": "", "type": "interactive"}])


def test_a_test_without_a_type_calls_what_it_names() -> None:
    assert cases.records([{"input": [1], "output": 2, "fn_name": "f"}]) == [CallTest(function="f", args=[1], output=2)]
    assert cases.records([{"input": [1], "output": 2}], "f") == [CallTest(function="f", args=[1], output=2)]
    assert cases.records([{"input": "1", "output": "2", "fn_name": ""}]) == [StdinTest(input="1", output="2")]
    with pytest.raises(ValueError, match=r"\(fn_name\) should be text, but is a list"):
        cases.columns({"fn_name": ["f"], "inputs": [[1]], "outputs": [2]})


def test_tests_of_one_problem_call_one_function() -> None:
    tests = [{"input": [1], "output": 2, "fn_name": name} for name in ("f", "g")]
    with pytest.raises(ValueError, match="several functions: f, g"):
        cases.records(tests)


@pytest.mark.parametrize(
    ("row", "seconds"),
    [
        ({"time_limit": "2.0 seconds"}, 2.0),
        ({"time_limit": "1500 ms"}, 1.5),
        ({"time_limit": "500 milliseconds"}, 0.5),
        ({"time_limit": "1.500s"}, 1.5),
        ({"time_limit": {"seconds": 1, "nanos": 500000000}}, 1.5),
        ({"time_limit": timedelta(seconds=2)}, 2.0),
        ({"time_limit": 3}, 3.0),
        ({"time_limit": 3000}, 3.0),
        ({"time_limit": 3_000_000_000}, 3.0),
        ({"time_limit_ms": 2500}, 2.5),
        ({"time_limit_ns": 2_500_000_000}, 2.5),
        ({"time_limit_s": "2"}, 2.0),
        ({"time_limit": "None"}, None),
        ({"time_limit": None}, None),
        ({"time_limit": {"seconds": 0, "nanos": 0}}, None),
    ],
)
def test_time_limits_come_in_all_units(row: dict[str, Any], seconds: float | None) -> None:
    assert bounds.time_limit(row) == seconds


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ({"memory_limit": "256.0 megabytes"}, 256 << 20),
        ({"memory_limit": "65536 KB"}, 64 << 20),
        ({"memory_limit": "1 GiB"}, 1 << 30),
        ({"memory_limit": 256}, 256 << 20),
        ({"memory_limit": 256 << 20}, 256 << 20),
        ({"memory_limit_bytes": 0}, None),
        ({"memory_limit_mb": 64}, 64 << 20),
    ],
)
def test_memory_limits_come_in_all_units(row: dict[str, Any], size: int | None) -> None:
    assert bounds.memory_limit(row) == size


def test_less_memory_than_an_interpreter_needs_is_no_limit() -> None:
    limits = bounds.limits({"memory_limit_mb": 16})
    assert limits is not None
    assert limits.memory_bytes == 256 << 20
    assert bounds.limits({}) is None


@pytest.mark.parametrize("said", ["soon", "2 fortnights", "1,5 seconds", "00:02", "1 second 500 ms", True])
def test_a_time_limit_that_cannot_be_read_is_refused(said: object) -> None:
    with pytest.raises(ValueError, match="time_limit is"):
        bounds.limits({"time_limit": said})


def test_a_fence_is_taken_off_and_may_say_the_language() -> None:
    assert programs.one("```c++\nint x;\n```").language == "cpp"
    assert programs.one("```python\nprint(1)\n```\n").code == "print(1)"
    assert programs.one("print('```')").code == "print('```')"
    assert programs.one("x", language="Befunge").language == "Befunge"


def test_solutions_are_a_list_a_list_in_json_or_one() -> None:
    assert [each.code for each in programs.solutions('["a", "b", ""]')] == ["a", "b"]
    assert [each.code for each in programs.solutions(["a", None, 3])] == ["a"]
    assert [each.code for each in programs.solutions("print(1)")] == ["print(1)"]
    assert programs.solutions(None) == []
