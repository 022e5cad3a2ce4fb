"""Half a character, which JSON can name and UTF-8 cannot, is refused in every field of every route: never a 500."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

import pytest

from tests.conftest import Service

HALF = "\ud800"
OTHERS = ["\udfff", "a\ud83d", "\udc80", "\ude00\ud83d"]
TEST = {"type": "stdin", "input": "", "output": "1\n"}
CALL = {"type": "call", "function": "f", "args": [], "output": 1}
LARGE = "#" + "x" * 200_000


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, 2))).decode()


def columns(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


def submissions(half: str) -> list[dict[str, Any]]:
    good: dict[str, Any] = {"code": "print(1)", "tests": [TEST]}
    return [
        good | {"code": half},
        {"completion": half, "tests": [TEST]},
        good | {"id": half},
        good | {"labels": {"client": half}},
        good | {"labels": {half: "x"}},
        good | {"language": half},
        good | {"suite": half},
        good | {"mode": half},
        good | {"checker": {"type": half}},
        good | {half: 1},
        good | {"tests": [TEST | {"input": half}]},
        good | {"tests": [TEST | {"output": half}]},
        good | {"tests": [TEST | {"output": ["1", half]}]},
        good | {"tests": [CALL | {"function": half}]},
        good | {"tests": [CALL | {"args": [half]}]},
        good | {"tests": [CALL | {"args": [{half: 1}]}]},
        good | {"tests": [CALL | {"kwargs": {half: 1}}]},
        good | {"tests": [CALL | {"output": {"a": [half]}}]},
        good | {"tests": [{"type": "call", "function": "A", "calls": [[half, []]], "output": [None]}]},
        good | {"tests": [{"type": "assert", "code": half}]},
        good | {"tests": [{"type": "assert", "code": "1", "entry_point": half}]},
        good | {"tests": [{"type": "assert", "code": "1", "prelude": half}]},
        good | {"tests": [{"type": half}]},
    ]


def foreign(half: str) -> list[tuple[str, dict[str, Any]]]:
    inside = json.dumps([{"input": half, "output": "1"}])
    message = {"output": [{"type": "message", "content": [{"type": "output_text", "text": half}]}]}
    program = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "```python\n1\n```"}]}]}
    half_packed = columns('{"inputs":["\\ud800"],"outputs":["1"]}')
    half_in_hex = {"content": "eda080", "encoding": "hex"}
    answer = "```python\n1\n```"
    unit = {"inputs": ["1"], "outputs": ["1"]}
    tests = [{"input": "1", "output": "1"}]
    return [
        ("/run_code", {"code": half, "language": "python"}),
        ("/run_code", {"code": "1", "language": "python", "stdin": half}),
        ("/run_code", {"code": "1", "language": half}),
        ("/submit", {"completion": half, "config": {"provided_data": {"test_cases": tests}}}),
        ("/submit", {"completion": answer, "config": {"provided_data": inside}}),
        ("/submit", {"id": half, "completion": answer, "config": {"provided_data": {"test_cases": tests}}}),
        ("/common_evaluate_batch", {"completion": answer, "config": {"provided_data": {"test_cases": inside}}}),
        ("/get_reward", {"query": [half], "labels": [tests]}),
        ("/get_reward", {"query": [answer], "labels": [inside]}),
        ("/slime", {"response": half, "label": tests}),
        ("/slime", {"response": answer, "label": inside}),
        ("/test_program", {"program": half, "tests": ["assert 1"]}),
        ("/test_program", {"program": "1", "tests": [half]}),
        ("/test_program", {"program": "1", "tests": packed(["assert '" + half + "'"])}),
        ("/test_program_stdio", {"program": "1", "tests": packed([{"input": half, "output": "1"}])}),
        ("/verify", {"response": message, "verifier_metadata": {"unit_tests": unit}}),
        ("/verify", {"response": program, "verifier_metadata": {"unit_tests": {"inputs": [half], "outputs": ["1"]}}}),
        ("/verify", {"response": program, "verifier_metadata": {"unit_tests": {"packed": half_packed}}}),
        ("/verify", {"response": program, "verifier_metadata": {"unit_tests": unit}, "x": half}),
        ("/seed_session", {"resources_session_id": half}),
        ("/aggregate_metrics", {"verify_responses": [{"reward": 1, "x": half}]}),
        ("/api/v2/execute", {"language": "python", "version": "3", "files": [{"content": half}]}),
        ("/api/v2/execute", {"language": "python", "version": "3", "files": [{"content": "1"}], "stdin": half}),
        ("/api/v2/execute", {"language": "python", "version": "3", "files": [half_in_hex]}),
        ("/submissions?wait=true", {"source_code": half, "language_id": 71}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "stdin": half}),
        ("/submissions?wait=true&base64_encoded=true", {"source_code": "7aCA", "language_id": 71}),
        ("/submissions/batch", {"submissions": [{"source_code": half, "language_id": 71}]}),
        ("/execute", {"generated_code": half, "language": "python"}),
        ("/execute", {"generated_code": "1", "language": "python", "std_input": half}),
        ("/v1/suites/missing", {"suites": [half]}),
    ]  # fmt: skip


def refused(service: Service, method: str, path: str, body: object) -> None:
    status, answer = service.client.request(method, path, json.dumps(body).encode())
    assert 400 <= status < 500, (path, body, status, answer[:500])
    answer.decode()


@pytest.mark.parametrize("half", [HALF, *OTHERS], ids=ascii)
@pytest.mark.parametrize("padding", ["", LARGE], ids=["small", "large"])
def test_in_a_submission(service: Service, half: str, padding: str) -> None:
    for each in submissions(half):
        given = each if "code" not in each or each["code"] == half else each | {"code": each["code"] + padding}
        refused(service, "POST", "/v1/grade", given)
        refused(service, "POST", "/v1/submissions", given)
        refused(service, "POST", "/v1/grade/batch", {"submissions": [given]})
        refused(service, "POST", "/v1/grade/batch", {"defaults": given, "submissions": [{"code": "1"}]})


@pytest.mark.parametrize("half", [HALF, *OTHERS], ids=ascii)
def test_in_what_other_clients_send(service: Service, half: str) -> None:
    for path, body in foreign(half):
        refused(service, "POST", path, body)


def test_in_a_path_or_a_label(service: Service) -> None:
    for path in ("/v1/submissions/%ED%A0%80", "/v1/suites/%ED%A0%80", "/v1/recent/%ED%A0%80", "/submissions/%ED%A0%80"):
        assert service.client.request("GET", path)[0] in (404, 422)
    assert service.client.request("DELETE", "/v1/submissions?label=a=%ED%A0%80")[0] == 200
    assert service.client.request("DELETE", "/v1/submissions/%ED%A0%80")[0] == 200
    assert service.client.request("GET", "/v1/recent?client=%ED%A0%80")[0] == 200
    assert service.client.request("GET", "/submissions/batch?tokens=%ED%A0%80")[0] == 200
