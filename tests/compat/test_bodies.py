"""Requests of other services that are not understood get an error, never an answer that looks like a failed test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sandbox_service.api.compat import MODELS
from sandbox_service.api.compat.bodies import ForeignBody, misspelt
from sandbox_service.api.compat.judge0_wire import Judge0Submission
from tests.compat.programs import fenced
from tests.conftest import Service

CODE = "print(int(input()) + 1)"
RUN = {"code": CODE, "language": "python"}
JOB = {"language": "python", "version": "*", "files": [{"content": CODE}]}
EXECUTION = {"generated_code": CODE, "language": "python"}
PROGRAM = {"language_id": 71, "source_code": CODE}
LABEL = {"inputs": ["1"], "outputs": ["2"]}
TESTED = {"program": "def add(a, b):\n    return a + b", "max_execution_time": 1}
STREAM = {"type": "stdin_stdout", "input": "1", "output": "2"}
CALL = {"type": "function_call", "fn_name": "add", "input": [1, 2], "output": [3]}
HUMAN = {"test": "def check(candidate):\n    assert candidate(1, 2) == 3", "entry_point": "add"}


def submitted(row: Any, answer: str = fenced(CODE), **config: Any) -> dict[str, Any]:
    return {"completion": answer, "config": {"language": "python", "provided_data": row, **config}}


def rollout(unit_tests: Any) -> dict[str, Any]:
    message = {"type": "message", "content": [{"type": "output_text", "text": fenced(CODE)}]}
    return {"response": {"output": [message]}, "verifier_metadata": {"unit_tests": unit_tests}}


NOT_UNDERSTOOD = [
    ("/run_code", RUN | {"language": ""}, "language"),
    ("/run_code", RUN | {"input": "1"}, "input is not known; use stdin"),
    ("/run_code", RUN | {"Stdin": "1"}, "Stdin is not known; use stdin"),
    ("/run_code", RUN | {"std_input": "1"}, "std_input is not known; use stdin"),
    ("/run_code", RUN | {"run_timeouts": 1}, "use run_timeout"),
    ("/run_code", RUN | {"files": {"a": "", "/tmp/./a/b": ""}}, "'a' is a file and a folder of others"),
    ("/submit", submitted({"test": [{"input": {"stdin": "1"}, "output": {"stdout": None}}]}), "null"),
    ("/submit", submitted({"test": [{"inputs": {"stdin": "1"}, "output": {"stdout": "2"}}]}), "an input and an output"),
    ("/submit", submitted(LABEL, run_timeout=True), "run_timeout should be a number, but is true"),
    ("/run_code", RUN | {"run_timeout": True}, "run_timeout should be a number, but is true"),
    ("/api/v2/execute", JOB | {"run_timeout": True}, "run_timeout should be a number, but is true"),
    ("/execute", EXECUTION | {"timeout": False}, "timeout should be a number, but is false"),
    ("/slime", {"prompt": "", "response": fenced(CODE), "label": {"inputs": ["1"], "outputs": [[None]]}}, "null"),
    ("/verify", rollout({"inputs": {"1": ""}, "outputs": {"2": ""}}), "inputs should be a list, but is an object"),
    ("/submit", submitted({"test_cases": {"type": "stdin_stdout", "input": ["1"], "output": [None]}}), "null"),
    ("/submit", submitted({"test_cases": {"type": "function_call", "input": [[1]], "output": [[2]]}}), "fn_name"),
    ("/submit", submitted({"test_cases": [STREAM, CALL]}), "should have the type of the first"),
    ("/submit", submitted(HUMAN, "    return a + b"), "prompt"),
    ("/submit", {"completion": "", "config": {"langauge": "cpp", "provided_data": LABEL}}, "use language"),
    ("/submit", submitted(LABEL, extra={"checkers": {"type": "exact"}}), "checkers is not known; use checker"),
    ("/submit", submitted([LABEL]), "a list"),
    ("/api/v2/execute", JOB | {"input": "1"}, "input is not known; use stdin"),
    ("/api/v2/execute", JOB | {"run_timeouts": 5}, "use run_timeout"),
    ("/test_program", TESTED | {"tests": [" "]}, "empty"),
    ("/test_program_stdio", TESTED | {"tests": ["1", "2"]}, "/test_program"),
    ("/test_program_stdio", TESTED | {"tests": json.dumps(["1"])}, "/test_program"),
    ("/test_program_stdio", TESTED | {"tests": [{"input": "1", "output": None}]}, "null"),
    ("/get_reward", {"query": [fenced(CODE)], "prompt": [""], "labels": [LABEL]}, "prompt is not known; use prompts"),
    ("/get_reward", {"query": [fenced(CODE)], "labels": [LABEL]}, "the prompts are missing, and no special token"),
    ("/slime", {"response": fenced(CODE), "label": {"inputs": ["1"], "outputs": [None]}}, "null"),
    ("/slime", {"response": fenced(CODE), "label": LABEL, "prompt": {}}, "prompt should be a string or a list',"),
    ("/verify", rollout({**LABEL, "fn_name": 5}), "fn_name should be text"),
    ("/execute", EXECUTION | {"stdin": "1"}, "stdin is not known; use std_input"),
    ("/execute", EXECUTION | {"session_id": "a"}, "session_id"),
    ("/submissions?wait=true", PROGRAM | {"expected_out": "2"}, "is not known; use expected_output"),
    ("/submissions?wait=true", PROGRAM | {"input": "1"}, "is not known; use stdin"),
    ("/submissions?wait=true", {"language_id": 71, "sourceCode": CODE}, "is not known; use source_code"),
]


@pytest.mark.parametrize(("path", "body", "words"), NOT_UNDERSTOOD)
def test_it_is_refused_in_words(service: Service, path: str, body: dict[str, Any], words: str) -> None:
    status, answer = service.client.post(path, body)
    assert status in (400, 422), answer
    assert words in str(answer)


@pytest.mark.parametrize(
    ("path", "body", "wanted"),
    [
        ("/run_code", RUN | {"stdin": "1", "uuid": "x", "extra": {}, "stdins": "2"}, {"status": "Success"}),
        ("/execute", EXECUTION | {"std_input": "1", "traceback_verbosity": "Plain"}, {"stdout": "2\n"}),
        ("/submit", submitted({"row": 3, **LABEL}, extra={"source": "a"}), {"accepted": True}),
        ("/submit", submitted(HUMAN, fenced("def add(a, b):\n    return a + b")), {"accepted": True}),
    ],
)
def test_other_unknown_fields_are_ignored(
    service: Service, path: str, body: dict[str, Any], wanted: dict[str, Any]
) -> None:
    status, answer = service.client.post(path, body)
    assert status == 200, answer
    assert wanted.items() <= answer.items()


OF_PISTON = (
    "compile_cpu_time compile_memory_limit compile_timeout run_output_max_size compile_output_max_size main log_level"
)
OF_JUDGE0 = (
    "cpu_extra_time stack_limit max_processes_and_or_threads enable_per_process_and_thread_time_limit "
    "enable_per_process_and_thread_memory_limit max_file_size number_of_runs token status created_at finished_at"
)


@pytest.mark.parametrize(
    "model", [each for each in MODELS if issubclass(each, ForeignBody)], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("names", [OF_PISTON, OF_JUDGE0])
def test_fields_that_the_original_services_know_are_not_taken_for_misspelt(
    model: type[ForeignBody], names: str
) -> None:
    assert misspelt(set(names.split()) - set(model.model_fields), model.model_fields, ()) == {}
    assert misspelt(names.split(), Judge0Submission.model_fields, ()) == {}


@pytest.mark.parametrize(
    ("unknown", "meant"),
    [(["expected_out"], "expected_output"), (["expected_stdout"], "expected_output"), (["sourcecode"], "source_code")],
)
def test_a_misspelt_field_is_told_once_it_is_missing(unknown: Sequence[str], meant: str) -> None:
    assert misspelt(unknown, Judge0Submission.model_fields, ()) == dict.fromkeys(unknown, meant)
    assert misspelt(unknown, Judge0Submission.model_fields, (meant,)) == {}


def test_very_many_and_very_long_names_are_not_compared() -> None:
    assert misspelt(["x" * 10_000_000], Judge0Submission.model_fields, ()) == {}
    assert misspelt([f"sourcecode{'x' * number}" for number in range(100, 10_000)], ("source_code",), ()) == {}
