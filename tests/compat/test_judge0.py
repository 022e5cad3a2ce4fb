"""`/submissions`: programs and what became of them, by Judge0's fourteen statuses."""

from __future__ import annotations

import base64
import time
from typing import Any

import pytest

from sandbox_service.api.compat import judge0, judge0_wire
from sandbox_service.schema import Grade, TestResult, Verdict
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import INPUTS, OUTPUTS, STREAMS
from tests.conftest import Service

WAIT = "/submissions/?wait=true"
KNOWN = {
    "stdout", "stderr", "compile_output", "message", "exit_code", "exit_signal", "time", "wall_time", "memory",
    "token", "status",
}  # fmt: skip
ADD = {"language_id": 71, "stdin": INPUTS[0], "expected_output": OUTPUTS[0], "cpu_time_limit": 1}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def submitted(service: Service, code: str, path: str = WAIT, **fields: Any) -> dict[str, Any]:
    status, answer = service.client.post(path, ADD | {"source_code": code} | fields)
    assert status == 201, answer
    assert answer.keys() == KNOWN
    found: dict[str, Any] = answer
    return found


def found_later(service: Service, path: str) -> dict[str, Any]:
    """What is there, when it is."""
    end = time.monotonic() + 20
    while True:
        status, answer = service.client.get(path)
        assert status == 200, answer
        if answer["status"]["id"] > 2:
            found: dict[str, Any] = answer
            return found
        assert time.monotonic() < end, answer
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("code", "number", "description"),
    [
        (STREAMS["right"], 3, "Accepted"),
        (STREAMS["right"] + "\nprint()", 3, "Accepted"),
        ("print('3  ')", 3, "Accepted"),
        ("print(' 3')", 4, "Wrong Answer"),
        ("print(4)", 4, "Wrong Answer"),
        (STREAMS["slow"], 5, "Time Limit Exceeded"),
        (STREAMS["broken"], 6, "Compilation Error"),
        ("import ctypes\nctypes.string_at(0)", 7, "Runtime Error (SIGSEGV)"),
        ("while True: print('x' * 10**6)", 8, "Runtime Error (SIGXFSZ)"),
        (STREAMS["crashing"], 11, "Runtime Error (NZEC)"),
        ("x = 'x' * 10**10", 12, "Runtime Error (Other)"),
    ],
)
def test_every_status(service: Service, code: str, number: int, description: str) -> None:
    answer = submitted(service, code)
    assert answer["status"] == {"id": number, "description": description}
    assert (answer["compile_output"] is not None) == (number == 6)


@pytest.mark.parametrize(("signal", "number"), [(6, 10), (8, 9), (9, 12), (11, 7), (25, 8)])
def test_signals(signal: int, number: int) -> None:
    tests = [TestResult(index=0, verdict=Verdict.RTE, signal=signal)]
    grade = Grade(id="x", verdict=Verdict.RTE, reward=0.0, total=1, tests=tests)
    assert judge0_wire.answer_of(grade, "cmp-0")["status"]["id"] == number


def test_without_an_expected_output_a_program_is_only_run(service: Service) -> None:
    answer = submitted(service, "import sys\nprint(4)\nsys.stderr.write('oh')", expected_output=None)
    assert answer["status"]["id"] == 3
    assert (answer["stdout"], answer["stderr"], answer["message"]) == ("4\n", "oh", None)
    assert (answer["exit_code"], answer["exit_signal"]) == (0, None)
    assert 0 < float(answer["time"]) < 1
    assert answer["memory"] > 1000
    assert submitted(service, "raise SystemExit(2)", expected_output=None)["exit_code"] == 2


def test_base_64(service: Service) -> None:
    fields = {"stdin": b64("ä\n"), "expected_output": b64("ä")}
    code = b64("print(input())")
    answer = submitted(service, code[:9] + "\n" + code[9:], WAIT + "&base64_encoded=true", **fields)
    assert (answer["status"]["id"], answer["stdout"], answer["stderr"]) == (3, b64("ä\n"), None)


@pytest.mark.parametrize("encoded", ["", "?base64_encoded=true"])
def test_results_are_kept_for_those_who_do_not_wait(service: Service, encoded: str) -> None:
    body = ADD | {"source_code": "print(4)"}
    if encoded:
        body |= {name: b64(str(body[name])) for name in ("source_code", "stdin", "expected_output")}
    status, answer = service.client.post(f"/submissions{encoded}", body)
    assert (status, list(answer)) == (201, ["token"])
    found = found_later(service, f"/submissions/{answer['token']}{encoded}")
    assert found["status"]["id"] == 4
    assert (found["stdout"], found["token"]) == (b64("4\n") if encoded else "4\n", answer["token"])


def test_results_of_those_who_waited_are_kept_too(service: Service) -> None:
    answer = submitted(service, STREAMS["right"])
    assert service.client.get(f"/submissions/{answer['token']}") == (200, answer)


def test_batches(service: Service) -> None:
    only_run = {"source_code": "print(5)", "language_id": 71}
    bodies = [ADD | {"source_code": STREAMS["right"]}, ADD | {"source_code": "", "language_id": 1}, only_run]
    status, answer = service.client.post("/submissions/batch", {"submissions": bodies})
    assert status == 201
    assert [list(each) for each in answer] == [["token"], ["language_id"], ["token"]]
    tokens = [each["token"] for each in answer if "token" in each]
    for token in tokens:
        found_later(service, f"/submissions/{token}")
    status, answer = service.client.get(f"/submissions/batch?tokens={tokens[0]},nobody,{tokens[1]}")
    statuses = [each and each["status"]["id"] for each in answer["submissions"]]
    assert (status, statuses) == (200, [3, None, 3])
    assert answer["submissions"][2]["stdout"] == "5\n"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"language_id": 54}, "language_id"),
        ({"language_id": 70}, "language_id"),
        ({"language_id": None}, "language_id"),
        ({"source_code": None}, "source_code"),
        ({"cpu_time_limit": 0}, "cpu_time_limit"),
        ({"callback_url": "http://localhost/"}, "callback_url"),
        ({"enable_network": True}, "enable_network"),
        ({"additional_files": "UEs="}, "additional_files"),
        ({"command_line_arguments": "-v"}, "command_line_arguments"),
    ],
)
@pytest.mark.parametrize("path", [WAIT, "/submissions"])
def test_wrong_fields_are_named(service: Service, path: str, fields: dict[str, Any], name: str) -> None:
    status, answer = service.client.post(path, ADD | {"source_code": ""} | fields)
    assert (status, list(answer)) == (422, [name])


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (WAIT, {"cpu_time_limit": 1e9}),
        ("/submissions", {"cpu_time_limit": 1e9}),
        (WAIT, {"memory_limit": 1e300}),
        ("/submissions", {"wall_time_limit": 1e9}),
        (WAIT + "&base64_encoded=true", {"source_code": "print(3)!"}),
        (WAIT + "&base64_encoded=true", {"source_code": "/w=="}),
        ("/submissions?wait=perhaps", {}),
    ],
)
def test_what_is_too_much_or_nonsense_is_refused(service: Service, path: str, fields: dict[str, Any]) -> None:
    assert service.client.post(path, ADD | {"source_code": ""} | fields)[0] == 422


@pytest.mark.parametrize("token", ["cmp-0", "nobody", "batch"])
def test_unknown_tokens(service: Service, token: str) -> None:
    assert service.client.get(f"/submissions/{token}")[0] == (422 if token == "batch" else 404)


def test_nobody_else_s_submissions_are_found(service: Service) -> None:
    service.grade(id="a native one", code="", tests=[{"type": "stdin", "output": ""}])
    assert service.client.get("/submissions/a%20native%20one")[0] == 404


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, comes_to: Any) -> None:
    """That is not `Accepted`, but no wrong answer either."""
    submit = {"source_code": "", "language_id": 71, "expected_output": ""}
    status, answer = answered(monkeypatch, judge0.routes, "/submissions", submit, comes_to, query=b"wait=true")
    assert (status, answer["status"]) == (201, {"id": 13, "description": "Internal Error"})
    assert answer["message"]
    assert answer.keys() == KNOWN


def test_what_there_is(service: Service) -> None:
    languages = service.client.get("/languages")[1]
    assert [each["id"] for each in languages] == [71, 92, 100, 109]
    assert all(each["name"].startswith("Python (3.") for each in languages)
    assert {"id": 3, "description": "Accepted"} in service.client.get("/statuses")[1]
    assert service.client.get("/about")[1]["version"]
