"""`POST /submit`: answers with their tests, in the formats of SandboxFusion's classes of data sets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_service.api.compat import submit
from sandbox_service.errors import UnavailableError
from sandbox_service.schema import Grade
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import ASSERTIONS, CHECK, FUNCTIONS, INPUTS, OUTPUTS, STREAMS, fenced
from tests.conftest import Service

CASES = [
    {"input": {"stdin": given}, "output": {"stdout": wanted}} for given, wanted in zip(INPUTS, OUTPUTS, strict=True)
]
COMMON_OJ = {"test": CASES}
AUTO_EVAL = {"id": 1, "labels": {"programming_language": "python"}, "test": {"code": "\n".join(ASSERTIONS)}}
MBPP = {"test": ASSERTIONS, "labels": {"test_setup_code": ""}}
HUMAN_EVAL = {"test": CHECK, "entry_point": "add", "prompt": "def add(a, b):\n    ...\n"}
ALL: dict[str, Any] = {"run_all_cases": True}


def submitted(service: Service, completion: str, data: Any, config: dict[str, Any] | None = None, **extra: Any) -> Any:
    body = {
        "dataset": "any",
        "id": 7,
        "completion": completion,
        "config": {"language": "python", "run_timeout": 1, "provided_data": data, "extra": extra, **(config or {})},
    }
    status, answer = service.client.post("/submit", body)
    return answer if status == 200 else (status, answer["error"]["message"])


@pytest.mark.parametrize("name", STREAMS)
def test_streams(service: Service, name: str) -> None:
    answer = submitted(service, fenced(STREAMS[name]), COMMON_OJ, **ALL)
    assert answer["accepted"] == (name == "right")
    assert answer["id"] == 7
    assert answer["extracted_code"] == STREAMS[name]
    assert answer["extracted_type"] == "fenced"
    passed = {"right": [True] * 3, "wrong": [True, False, True], "broken": [False]}.get(name, [False] * 3)
    assert [test["passed"] for test in answer["tests"]] == passed


@pytest.mark.parametrize("data", [AUTO_EVAL, MBPP, HUMAN_EVAL], ids=["AutoEval", "MBPP", "HumanEval"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(service: Service, name: str, data: dict[str, Any]) -> None:
    answer = submitted(service, fenced(FUNCTIONS[name]), data)
    assert answer["accepted"] == (name == "right")
    [test] = answer["tests"]
    assert test["passed"] == answer["accepted"]
    assert test["exec_info"]["status"] == ("Success" if answer["accepted"] else "Failed")
    assert answer["accepted"] or test["exec_info"]["run_result"]["stderr"]


def test_rows_may_be_json_text(service: Service) -> None:
    as_text = {name: json.dumps(value) for name, value in AUTO_EVAL.items()}
    for code, data in ((STREAMS["right"], {"test": json.dumps(CASES)}), (FUNCTIONS["right"], as_text)):
        assert submitted(service, fenced(code), data)["accepted"]
        assert submitted(service, fenced(code), json.dumps(data))["accepted"]


def test_tests_of_ours_are_taken_too(service: Service) -> None:
    data = {"tests": [{"type": "call", "function": "add", "args": [1, 2], "output": 3}]}
    assert submitted(service, fenced(FUNCTIONS["right"]), data)["accepted"]
    assert not submitted(service, fenced("def add(a, b): return 4"), data)["accepted"]


def test_it_ends_at_the_first_failure_unless_all_are_wanted(service: Service) -> None:
    first = submitted(service, fenced(STREAMS["wrong"]), COMMON_OJ)
    assert [test["passed"] for test in first["tests"]] == [True, False]


def test_a_wrong_output_is_no_failed_program(service: Service) -> None:
    _, failed = submitted(service, fenced(STREAMS["wrong"]), COMMON_OJ)["tests"]
    assert failed["exec_info"]["status"] == "Success"
    assert failed["exec_info"]["run_result"]["stdout"] == "0\n"
    assert failed["test_info"] == CASES[1]


def test_the_first_block_in_the_language_is_the_answer(service: Service) -> None:
    right, wrong = STREAMS["right"], STREAMS["wrong"]
    text = f"```text\n1 2\n```\n```python\n{right}\n```\n```python\n{wrong}\n```"
    assert submitted(service, text, COMMON_OJ)["extracted_code"] == right
    assert submitted(service, text, COMMON_OJ, extraction="last_block")["extracted_code"] == wrong
    assert (
        submitted(service, text, COMMON_OJ, autoeval_extract_code_mode="all")["extracted_code"] == f"{right}\n{wrong}"
    )
    assert submitted(service, right, COMMON_OJ, extraction="whole")["accepted"]


@pytest.mark.parametrize(
    "text", ["", "I cannot.", f"```python\n{STREAMS['right']}", "```python\n```", "<think>```x```"]
)
def test_no_program_is_no_empty_program(service: Service, text: str) -> None:
    data = {"test": [{"input": {"stdin": ""}, "output": {"stdout": ""}}] * 2}
    answer = submitted(service, text, data, **ALL)
    assert (answer["accepted"], answer["extracted_code"], answer["extracted_type"]) == (False, "", "empty")
    assert [test["passed"] for test in answer["tests"]] == [False, False]
    assert answer["tests"][0]["exec_info"]["run_result"]["stderr"] == "no code block"
    assert len(submitted(service, text, data)["tests"]) == 1


@pytest.mark.parametrize(
    ("printed", "wanted", "accepted"),
    [
        ("YES", "yes", True),
        ("1  2\n\n", "1 2", True),
        ("0.333333", "0.33333334", True),
        ("0.3334", "0.3333", False),
        ("1000000000000000001", "1000000000000000000", False),
        ("1 2", "1 2 3", False),
    ],
)
def test_outputs_are_compared_as_there(service: Service, printed: str, wanted: str, accepted: bool) -> None:
    data = {"test": [{"input": {"stdin": ""}, "output": {"stdout": wanted}}]}
    assert submitted(service, fenced(f"print({printed!r})"), data)["accepted"] == accepted


def test_a_checker_of_ones_own(service: Service) -> None:
    data = {"test": [{"input": {"stdin": ""}, "output": {"stdout": "yes"}}]}
    assert not submitted(service, fenced("print('YES')"), data, checker={"type": "exact"})["accepted"]


def test_long_tests_are_cut_where_they_were_passed(service: Service) -> None:
    data = {"test": [{"input": {"stdin": "x" * 5000}, "output": {"stdout": ""}}]}
    extras: list[tuple[dict[str, Any], int]] = [({}, 1000), ({"return_full_case": True}, 5000)]
    for extra, length in extras:
        [test] = submitted(service, fenced("pass"), data, **extra)["tests"]
        assert len(test["test_info"]["input"]["stdin"]) == length


@pytest.mark.parametrize(
    ("data", "config", "named"),
    [
        (None, {}, "data set 'any' is unknown"),
        ({}, {}, "holds no data sets"),
        ([], {}, "holds no data sets"),
        ("nonsense", {}, "should be an object"),
        ([COMMON_OJ], {}, "should be an object"),
        ({"test": []}, {}, "list of tests"),
        ({"test": [3]}, {}, "should be an object"),
        ({"test": 3}, {}, "list of tests"),
        ({"test": [{"input": {"a.txt": ""}, "output": {"stdout": ""}}]}, {}, "no files"),
        ({"test": [{"input": {"stdin": ""}, "output": {"stdout": {}}}]}, {}, "object"),
        ({"labels": {}}, {}, "labels"),
        (AUTO_EVAL | {"test": {"code": "x = '''#<INSERT>'''"}}, {}, "#<INSERT>"),
        (AUTO_EVAL | {"test": {"code": "1", "asset": {"a": "b"}}}, {}, "base 64"),
        (AUTO_EVAL | {"test": {"code": "1", "asset": {"../a": ""}}}, {}, "not a file in the program's folder"),
        (AUTO_EVAL | {"test": {"code": "1", "asset": {"/etc/a": ""}}}, {}, "outside of the program's folder"),
        (AUTO_EVAL | {"test": {"code": "1", "asset": ["a"]}}, {}, "object"),
        (AUTO_EVAL | {"test": {"code": ""}}, {}, "test program is missing"),
        (AUTO_EVAL | {"labels": {"programming_language": "cobol"}}, {}, "cobol"),
        (AUTO_EVAL | {"labels": {"execution_language": "jest"}}, {}, "jest"),
        (HUMAN_EVAL | {"entry_point": 3}, {}, "entry_point"),
        (COMMON_OJ, {"language": "cobol"}, "cobol"),
        (COMMON_OJ, {"run_timeout": 0}, "run_timeout"),
        (COMMON_OJ, {"run_timeout": 1e9}, "cpu_seconds"),
        (COMMON_OJ, {"custom_extract_logic": "submit_code_blocks([])"}, "custom_extract_logic"),
        (COMMON_OJ, {"extra": {"special_judge_program": 1}}, "special_judge_program"),
        (COMMON_OJ, {"extra": {"special_judge_program": "1", "special_judge_language": "cobol"}}, "cobol"),
        (AUTO_EVAL, {"extra": {"repr_code": True}}, "repr_code"),
        (COMMON_OJ, {"dataset_type": "CruxEvalDataset"}, "is not served"),
        (COMMON_OJ, {"extra": {"extraction": "best_block"}}, "extraction"),
        (COMMON_OJ, {"extra": {"autoeval_extract_code_mode": []}}, "first or all"),
        (COMMON_OJ, {"extra": {"checker": {"type": "kind"}}}, "checker"),
        (COMMON_OJ, {"extra": 3}, "extra"),
        (AUTO_EVAL | {"test": {"code": "assert 1 =="}}, {}, "bad_test"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_name(
    service: Service, data: Any, config: dict[str, Any], named: str
) -> None:
    status, message = submitted(service, fenced(STREAMS["right"]), data, config)
    assert status == 422
    assert named in message


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_of_ours_is_503(comes_to: Grade | UnavailableError, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"completion": fenced(STREAMS["right"]), "config": {"provided_data": COMMON_OJ}}
    assert answered(monkeypatch, submit.routes, "/submit", body, comes_to)[0] == 503
