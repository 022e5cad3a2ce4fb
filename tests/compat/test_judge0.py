"""`/submissions`: programs and their results in Judge0's fourteen statuses."""

from __future__ import annotations

import base64
import http.server
import io
import json
import queue
import threading
import time
import zipfile
from typing import Any

import pytest

from sandbox_service.api.compat import judge0, judge0_programs, judge0_wire
from sandbox_service.schema import Grade, TestResult, Verdict
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import INPUTS, OUTPUTS, STREAMS
from tests.conftest import Service, running_service

WAIT = "/submissions/?wait=true"
COMPARED = "00000000-0000-4000-8000-000000000000"
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
    """Poll until the result exists and return it."""
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
    assert judge0_wire.answer_of(grade, COMPARED)["status"]["id"] == number


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
        ({"language_id": 44}, "language_id"),
        ({"language_id": 70}, "language_id"),
        ({"language_id": None}, "language_id"),
        ({"source_code": None}, "source_code"),
        ({"source_code": " \n"}, "source_code"),
        ({"cpu_time_limit": 0}, "cpu_time_limit"),
        ({"cpu_time_limit": True}, "cpu_time_limit"),
        ({"memory_limit": True}, "memory_limit"),
        ({"language_id": True}, "language_id"),
        ({"callback_url": "http://localhost/"}, "callback_url"),
        ({"enable_network": True}, "enable_network"),
        ({"additional_files": "UEs="}, "additional_files"),
        ({"additional_files": "%"}, "additional_files"),
        ({"language_id": 89}, "additional_files"),
        ({"language_id": 46, "additional_files": "UEs="}, "additional_files"),
        ({"language_id": 46, "command_line_arguments": "-v"}, "command_line_arguments"),
        ({"command_line_arguments": "'"}, "command_line_arguments"),
        ({"language_id": 54, "compiler_options": "-O3"}, "compiler_options"),
    ],
)
@pytest.mark.parametrize("path", [WAIT, "/submissions"])
def test_wrong_fields_are_named(service: Service, path: str, fields: dict[str, Any], name: str) -> None:
    status, answer = service.client.post(path, ADD | {"source_code": "print(3)"} | fields)
    assert (status, list(answer)) == (422, [name])


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (WAIT, {"cpu_time_limit": 1e9}),
        ("/submissions", {"cpu_time_limit": 1e9}),
        (WAIT, {"memory_limit": 1e300}),
        (WAIT, {"memory_limit": 1e308}),
        ("/submissions", {"wall_time_limit": 1e9}),
        (WAIT + "&base64_encoded=true", {"source_code": "print(3)!"}),
        (WAIT + "&base64_encoded=true", {"source_code": "/w=="}),
        ("/submissions?wait=perhaps", {}),
    ],
)
def test_what_is_too_much_or_nonsense_is_refused(service: Service, path: str, fields: dict[str, Any]) -> None:
    assert service.client.post(path, ADD | {"source_code": "print(3)"} | fields)[0] == 422


@pytest.mark.parametrize("token", [COMPARED, "nobody", "batch"])
def test_unknown_tokens(service: Service, token: str) -> None:
    assert service.client.get(f"/submissions/{token}")[0] == (422 if token == "batch" else 404)


def test_nobody_else_s_submissions_are_found(service: Service) -> None:
    service.grade(id="a native one", code="", tests=[{"type": "stdin", "output": ""}])
    assert service.client.get("/submissions/a%20native%20one")[0] == 404


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, comes_to: Any) -> None:
    """A fault is neither `Accepted` nor a wrong answer."""
    submit = {"source_code": "print()", "language_id": 71, "expected_output": ""}
    status, answer = answered(monkeypatch, judge0.routes, "/submissions", submit, comes_to, query=b"wait=true")
    assert (status, answer["status"]) == (201, {"id": 13, "description": "Internal Error"})
    assert answer["message"]
    assert answer.keys() == KNOWN


def test_what_there_is(service: Service) -> None:
    languages = service.client.get("/languages")[1]
    pythons = [each for each in languages if each["name"].startswith("Python (3.")]
    assert [each["id"] for each in pythons] == [71, 92, 100, 109, 113]
    assert service.client.get("/languages/71") == (200, pythons[0])
    assert service.client.get("/languages/44")[0] == 404
    assert {"id": 3, "description": "Accepted"} in service.client.get("/statuses")[1]
    assert service.client.get("/about")[1]["version"] == "1.14.0"
    config = service.client.get("/config_info")[1]
    assert (config["enable_callbacks"], config["max_submission_batch_size"]) == (False, 100)


@pytest.mark.parametrize(
    ("number", "code"),
    [(54, '#include <cstdio>\nint main() { puts("3"); }'), (63, "console.log(3)"), (46, "echo 3"), (43, "3")],
)
def test_other_languages(service: Service, number: int, code: str) -> None:
    listed = {each["id"] for each in service.client.get("/languages")[1]}
    body = {"source_code": code, "language_id": number, "expected_output": "3"}
    status, answer = service.client.post(WAIT, body)
    if number in listed:
        assert (status, answer["status"]["description"]) == (201, "Accepted"), answer
    else:
        assert status == 422


def zipped(**files: str) -> str:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return base64.b64encode(made.getvalue()).decode()


def test_additional_files_and_arguments(service: Service) -> None:
    code = "import sys\nprint(open('d/a').read(), sys.argv[1:])\nprint('oh', file=sys.stderr)"
    fields = {"additional_files": zipped(d__a="3"), "command_line_arguments": "-v 'x y'"}
    answer = submitted(service, code, expected_output="3 ['-v', 'x y']", **fields)
    assert (answer["status"]["id"], answer["stderr"]) == (3, "oh\n")
    answer = submitted(service, code, expected_output=None, redirect_stderr_to_stdout=True, **fields)
    assert (sorted(answer["stdout"].splitlines()), answer["stderr"]) == (["3 ['-v', 'x y']", "oh"], None)


def test_a_program_of_several_files(service: Service) -> None:
    if 89 not in {each["id"] for each in service.client.get("/languages")[1]}:
        pytest.skip("bash is not installed")
    files = zipped(run="cat d/a; read x; echo $x", d__a="three\n")
    body = {"language_id": 89, "additional_files": files, "stdin": "4\n", "expected_output": "three\n4\n"}
    status, answer = service.client.post(WAIT, body)
    assert (status, answer["status"]["id"]) == (201, 3), answer
    for wrong in ({"compile": "", "run": ""}, {"a": ""}, {"run": "", "x": "\x7fELF"}):
        assert service.client.post(WAIT, body | {"additional_files": zipped(**wrong)})[0] == 422


def test_archives_are_not_trusted() -> None:
    bomb = zipped(a="0" * (judge0_programs.MOST_BYTES + 1))
    for archive, words in ((bomb, "more than"), (zipped(**{"..__a": ""}), "not a file"), ("UEs=", "not a zip")):
        with pytest.raises(ValueError, match=words):
            judge0_programs.unpacked(archive)


def test_fields_are_selected(service: Service) -> None:
    token = submitted(service, STREAMS["right"])["token"]
    assert set(service.client.get(f"/submissions/{token}?fields=stdout,status")[1]) == {"stdout", "status"}
    status, answer = service.client.get(f"/submissions/{token}?fields=stdout,nothing")
    assert (status, "'nothing' is not known" in str(answer)) == (422, True)
    assert service.client.post(WAIT + "&fields=time", ADD | {"source_code": "print(3)"})[1].keys() == {"time"}
    batch = service.client.get(f"/submissions/batch?tokens={token},{COMPARED}&fields=time")[1]["submissions"]
    assert [each and list(each) for each in batch] == [["time"], None]


def test_results_are_sent_to_listed_hosts_only() -> None:
    received: queue.Queue[dict[str, Any]] = queue.Queue()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            received.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        with running_service(slots=1, callback_hosts=place) as service:
            body = ADD | {"source_code": STREAMS["right"]}
            for url in ("http://localhost:1/", "file:///etc/passwd", f"http://{place}@example.org/", "http://["):
                status, answer = service.client.post("/submissions", body | {"callback_url": url})
                assert (status, list(answer)) == (422, ["callback_url"])
            status, answer = service.client.post("/submissions", body | {"callback_url": f"http://{place}/done"})
            result = received.get(timeout=60)
            assert (status, result["token"], result["status"]["id"]) == (201, answer["token"], 3)
            assert result["stdout"] == b64(OUTPUTS[0])
            assert service.client.get("/config_info")[1]["enable_callbacks"]
        server.shutdown()
