"""`POST /common_evaluate_batch` and `/common_evaluate` of ScaleBox: all tests of an answer in one request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compat.programs import CALLS, CHECK, FUNCTIONS, INPUTS, OUTPUTS, RESULTS, STREAMS, fenced
from tests.conftest import Service

STREAM_CASES = {"type": "stdin_stdout", "input": INPUTS, "output": OUTPUTS, "fn_name": None}
CALL_CASES = {
    "type": "function_call",
    "input": CALLS,
    "output": [[each] for each in RESULTS],
    "fn_name": "add",
    "json_input": False,
}
JSON_CASES = CALL_CASES | {
    "input": ["\n".join(map(json.dumps, args)) for args in CALLS],
    "output": list(map(json.dumps, RESULTS)),
    "json_input": True,
}
ASSERT_CASES = {"type": "assert", "test": CHECK, "entry_point": "add"}
ALL: dict[str, Any] = {"run_all_cases": True, "total_timeout": 1}


def body(completion: str, cases: Any, **extra: Any) -> dict[str, Any]:
    config = {"language": "python", "run_timeout": 0.3, "provided_data": {"test_cases": cases}, "extra": extra}
    return {"completion": completion, "config": config}


def evaluated(service: Service, completion: str, cases: Any, path: str = "/common_evaluate_batch", **extra: Any) -> Any:
    status, answer = service.client.post(path, body(completion, cases, **extra))
    return answer if status == 200 else (status, answer["error"]["message"])


def as_list(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {**columns, "input": given, "output": wanted}
        for given, wanted in zip(columns["input"], columns["output"], strict=True)
    ]


@pytest.mark.parametrize("name", STREAMS)
def test_streams(service: Service, name: str) -> None:
    for cases, path in ((STREAM_CASES, "/common_evaluate_batch"), (as_list(STREAM_CASES), "/common_evaluate")):
        answer = evaluated(service, fenced(STREAMS[name]), cases, path, **ALL)
        assert (answer["id"], answer["accepted"]) == (0, name == "right")
        assert [test["passed"] for test in answer["tests"]].count(True) == {"right": 3, "wrong": 2}.get(name, 0)


@pytest.mark.parametrize("cases", [CALL_CASES, JSON_CASES, as_list(CALL_CASES)], ids=["columns", "JSON", "list"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls(service: Service, name: str, cases: Any) -> None:
    answer = evaluated(service, fenced(FUNCTIONS[name]), cases, **ALL)
    assert answer["accepted"] == (name == "right")
    first = answer["tests"][0]
    assert first["test_info"] == {"type": "function_call", "fn_name": "add", "input": [1, 2], "output": [3]}
    assert first["exec_info"]["status"] == ("Success" if first["passed"] else "Failed")


def test_a_method_of_a_solution_and_what_is_a_list(service: Service) -> None:
    code = "class Solution:\n    def pair(self, a: int) -> List[int]:\n        return [a]"
    cases = {"type": "function_call", "fn_name": "pair", "input": [[1], [2]], "output": [[[1]], [[2]]]}
    assert evaluated(service, fenced(code), cases)["accepted"]
    assert not evaluated(service, fenced(code.replace("[a]", "a")), cases)["accepted"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_assertions(service: Service, name: str) -> None:
    assert evaluated(service, fenced(FUNCTIONS[name]), ASSERT_CASES)["accepted"] == (name == "right")


def test_what_humaneval_imports_is_there(service: Service) -> None:
    code = "def add(a: Optional[int], b: List[int]) -> Dict:\n    return math.floor(a) + b"
    assert evaluated(service, fenced(code), ASSERT_CASES)["accepted"]


@pytest.mark.parametrize(
    ("cases", "named"),
    [
        ([], "test_cases"),
        ("", "test_cases"),
        (3, "test_cases"),
        ([3], "should be an object"),
        ({}, "input and output"),
        (STREAM_CASES | {"input": ["1"]}, "same length"),
        (STREAM_CASES | {"input": [], "output": []}, "test_cases"),
        (STREAM_CASES | {"type": "riddle"}, "riddle"),
        ([{"type": "stdin_stdout", "input": ""}], "an input and an output"),
        (CALL_CASES | {"fn_name": None}, "function"),
        (CALL_CASES | {"output": RESULTS}, "list of one"),
        (JSON_CASES | {"input": ["{", "", ""]}, "provided_data"),
        (ASSERT_CASES | {"tests": "}"}, "does not compile"),
        (ASSERT_CASES | {"test": 3}, "test should be text"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_name(service: Service, cases: Any, named: str) -> None:
    status, message = evaluated(service, fenced(STREAMS["right"]), cases)
    assert status == 422
    assert named in message


def test_without_tests_it_says_so(service: Service) -> None:
    status, answer = service.client.post("/common_evaluate_batch", {"completion": "", "config": {}})
    assert status == 422
    assert "test_cases" in answer["error"]["message"]


JUDGE = """import sys
wanted, found = sorted(open("stdout.txt").read().split()), sorted(open("answer.txt").read().split())
sys.exit(wanted != found)
"""


def test_a_special_judge(service: Service) -> None:
    cases = {"type": "stdin_stdout", "input": ["2"], "output": ["1 2"]}
    extra = {"special_judge_program": JUDGE, "special_judge_language": "python"}
    for printed, accepted in (("2 1", True), ("2 2", False)):
        answer = evaluated(service, fenced(f"print({printed!r})"), cases, **extra)
        assert answer["accepted"] == accepted
    status, message = evaluated(service, fenced("print(1)"), cases, special_judge_program="raise ValueError")
    assert (status, "bad_checker" in message) == (422, True)
