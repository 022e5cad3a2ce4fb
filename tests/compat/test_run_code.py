"""`POST /run_code`: results in SandboxFusion's format, for every way in which a program can end."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox_service.api.compat import run_code
from sandbox_service.api.compat.run_code import RunCode
from tests.compat import patient
from tests.compat.crowd import at_once, dying_slots, impatient, pending, until_pending
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import INPUTS, OUTPUTS, STREAMS, fenced
from tests.conftest import Service, running_service
from tests.languages.toolchains import need

QUICK = {"language": "python", "run_timeout": 1, "compile_timeout": 1}
LONG = QUICK | {"code": "import time\ntime.sleep(4)", "run_timeout": 10, "compile_timeout": 15}


def ran(service: Service, code: str, **fields: Any) -> dict[str, Any]:
    status, answer = patient.answered(service, "/run_code", QUICK | {"code": code} | fields)
    assert status == 200, answer
    assert answer["status"] == ("Success" if answer["run_result"]["return_code"] == 0 else "Failed")
    assert (answer["message"], answer["compile_result"], answer["files"]) == ("", None, {})
    result: dict[str, Any] = answer["run_result"]
    return result


@pytest.mark.parametrize(
    ("code", "status", "return_code", "stdout", "stderr"),
    [
        (STREAMS["right"], "Finished", 0, "3\n", ""),
        (STREAMS["wrong"], "Finished", 0, "3\n", ""),
        ("", "Finished", 0, "", ""),
        ("print('x', end='')", "Finished", 0, "x", ""),
        ("import sys\nsys.exit(3)", "Finished", 3, "", ""),
        ("import sys\nprint(1)\nsys.stderr.write('oh')\nsys.exit(2)", "Finished", 2, "1\n", "oh"),
        ("import sys\nsys.stderr.write('mind')", "Finished", 0, "", "mind"),
        (STREAMS["slow"], "TimeLimitExceeded", None, "", "TLE: "),
        ("import time\nprint(1, flush=True)\ntime.sleep(9)", "TimeLimitExceeded", None, "1\n", "TLE: wall clock"),
        (STREAMS["crashing"], "Finished", 1, "", "Traceback"),
        (STREAMS["broken"], "Finished", 1, "", 'File "solution.py", line 2'),
        ("import ctypes\nctypes.string_at(0)", "Finished", -11, "", ""),
        ("x = 'x' * 10**10", "Finished", 111, "", "Traceback"),
    ],
)
def test_every_end_is_told(
    service: Service, code: str, status: str, return_code: int | None, stdout: str, stderr: str
) -> None:
    result = ran(service, code, stdin=INPUTS[0])
    assert (result["status"], result["return_code"], result["stdout"]) == (status, return_code, stdout)
    assert result["stderr"].startswith(stderr)
    assert bool(result["stderr"]) == bool(stderr)
    assert result["execution_time"] >= 0


def test_the_last_line_of_stderr_names_the_error(service: Service) -> None:
    for code, name in ((STREAMS["broken"], "SyntaxError"), (STREAMS["crashing"], "ValueError")):
        last = ran(service, code, stdin=INPUTS[0])["stderr"].strip().split("\n")[-1]
        assert last.split(":")[0] == name


def test_too_much_output_and_too_much_memory_have_failed(service: Service) -> None:
    flood = ran(service, "print('x' * 10_000_000)")
    assert flood["return_code"] == 1
    assert "OLE: " in flood["stderr"]
    hungry = ran(service, "x = bytearray(200 << 20)\nprint(len(x))", memory_limit_MB=100)
    assert hungry["return_code"] != 0
    assert "MLE: " in hungry["stderr"]


def test_a_few_megabytes_come_back_whole(service: Service) -> None:
    assert ran(service, "print('x' * 3_000_000)")["stdout"] == "x" * 3_000_000 + "\n"


def test_stdin_comes_byte_for_byte(service: Service) -> None:
    for stdin, said in (("1 2", "'1 2'"), ("\r\n\t", r"'\r\n\t'"), ("é\x00", r"'é\x00'"), (None, "''"), ("", "''")):
        assert (
            ran(service, "import sys\nprint(repr(sys.stdin.buffer.read().decode()))", stdin=stdin)["stdout"]
            == said + "\n"
        )


def test_the_request_of_each_client_is_taken(service: Service) -> None:
    verl: dict[str, Any] = {
        "compile_timeout": 10,
        "run_timeout": 10,
        "stdin": None,
        "memory_limit_MB": 1024,
        "files": {},
        "fetch_files": [],
    }
    skyrl = {"run_timeout": 30}
    roll = {"compile_timeout": 30, "run_timeout": 30, "stdin": "", "expected_stdout": ""}
    for fields in (verl, skyrl, roll, {}, {"compile_timeout": 0}, {"files": {"a": None}}, {"args": [], "more": 1}):
        status, answer = service.client.post("/run_code", {"code": "print(1)", "language": "python", **fields})
        assert (status, answer["run_result"]["stdout"]) == (200, "1\n"), fields


@pytest.mark.parametrize(
    ("fields", "waits"),
    [
        ({"compile_timeout": 10, "run_timeout": 10}, 30),  # verl
        ({"compile_timeout": 30, "run_timeout": 30, "expected_stdout": ""}, 30),  # ROLL
    ],
)
def test_it_answers_before_the_client_stops_waiting(fields: dict[str, Any], waits: float) -> None:
    asked = RunCode.model_validate({"code": "", "language": "python", **fields})
    assert waits - 3 < asked.seconds < waits


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"code": None}, "code"),
        ({"language": "cobol"}, "cobol"),
        ({"language": "pytest"}, "pytest"),
        ({"language": "R"}, "'r' is not supported"),
        ({"language": "lua", "files": {"a": "/w=="}}, "files"),
        ({"language": "lua", "fetch_files": ["a"]}, "files"),
        ({"run_timeout": 0}, "run_timeout"),
        ({"run_timeout": None}, "run_timeout"),
        ({"run_timeout": 10**6}, "cpu_seconds"),
        ({"compile_timeout": -1}, "compile_timeout"),
        ({"files": {"../a": ""}}, "files"),
        ({"files": {"a": "%"}}, "not base 64"),
        ({"files": []}, "files"),
        ({"fetch_files": ["/mnt/a"]}, "outside of the program's folder"),
        ({"fetch_files": [""]}, "a path should be text"),
        ({"stdin": 3}, "stdin"),
        ({"memory_limit_MB": 10**6}, "memory_bytes"),
        ({"code": "\ud800"}, "body"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(service: Service, fields: dict[str, Any], named: str) -> None:
    status, answer = service.client.post("/run_code", QUICK | {"code": "print(1)"} | fields)
    assert status == 422
    assert named in answer["error"]["message"]


def test_a_program_may_sleep_as_long_as_it_may_run(service: Service) -> None:
    for seconds, status in ((0.2, "Finished"), (2, "TimeLimitExceeded")):
        result = ran(service, f"import time\ntime.sleep({seconds})", run_timeout=1, compile_timeout=10)
        assert result["status"] == status


def test_who_sends_no_compile_timeout_is_answered_when_a_busy_machine_is_done() -> None:
    asked = RunCode.model_validate({"code": "", "language": "python", "run_timeout": 30})
    assert asked.seconds == 30 + 10 + 8


def test_files_go_in_and_come_out(service: Service) -> None:
    code = "import sys\nprint(open('a/b').read())\nopen('c', 'w').write('out')\nsys.exit({})"
    files = {"a/b": base64.b64encode(b"in").decode()}
    for status in (0, 3):
        body = QUICK | {"code": code.format(status), "files": files, "fetch_files": ["c", "/tmp/a/b", "nothing"]}
        _, answer = patient.answered(service, "/run_code", body)
        assert (answer["run_result"]["stdout"], answer["run_result"]["return_code"]) == ("in\n", status)
        left = {name: base64.b64decode(text) for name, text in answer["files"].items()}
        assert left == {"c": b"out", "/tmp/a/b": b"in"}


def test_a_program_with_files_ends_as_one_without(service: Service) -> None:
    for code, words in ((STREAMS["broken"], "SyntaxError"), (STREAMS["crashing"], "ValueError: no")):
        result = ran(service, code, stdin=INPUTS[0], files={"a": ""})
        assert (result["return_code"], words in result["stderr"]) == (1, True)
    assert ran(service, "print(__name__, __file__ is not None)", files={"a": ""})["stdout"] == "__main__ True\n"


def test_files_beside_a_program_in_another_language(service: Service) -> None:
    need("lua")
    files = {"words.txt": base64.b64encode(b"in").decode(), "helper.lua": base64.b64encode(b"return 3").decode()}
    code = "print(io.open('words.txt'):read('l'), (require('helper')))"
    assert ran(service, code, language="lua", files=files)["stdout"] == "in\t3\n"


def test_other_languages_by_their_names_there(service: Service) -> None:
    for language, code in (("cpp", 'int main() { puts("1"); }'), ("nodejs", "console.log(1)"), ("lua", "print(1)")):
        source = "#include <cstdio>\n" + code if language == "cpp" else code
        status, answer = patient.answered(service, "/run_code", QUICK | {"language": language, "code": source})
        if status == 422 and "apt-get install" in answer["error"]["message"]:
            continue
        assert (status, answer["run_result"]["stdout"]) == (200, "1\n"), answer
        assert (answer["compile_result"] is not None) == (language == "cpp")
    body = QUICK | {"language": "cpp", "code": "int main() { return x; }"}
    _, refused = patient.answered(service, "/run_code", body)
    assert (refused["status"], refused["compile_result"]["return_code"], refused["run_result"]) == ("Failed", 1, None)
    assert "'x' was not declared" in refused["compile_result"]["stderr"].replace("‘", "'").replace("’", "'")


def test_assertions_of_java_are_on(service: Service) -> None:
    program = "public class Main { public static void main(String[] a) { assert %s; System.out.println(1); } }"
    for condition, wanted in (("1 < 2", "Success"), ("1 > 2", "Failed")):
        body = QUICK | {"language": "java", "code": program % condition}
        status, answer = patient.answered(service, "/run_code", body)
        assert (status, answer["status"]) == (200, wanted), answer
        assert ("AssertionError" in answer["run_result"]["stderr"]) == (wanted == "Failed")


def test_usings_of_csharp_are_implicit(service: Service) -> None:
    need("csharp")
    lines = ["class P { static void Main() {", "var n = new List<int> {1, 2}; Console.WriteLine(n.Sum()); } }"]
    for code in ("\n".join(lines), "#define X\nusing System; using System.Linq; class P { static void Main() { } }"):
        status, answer = patient.answered(service, "/run_code", QUICK | {"language": "csharp", "code": code})
        assert (status, answer["status"]) == (200, "Success"), answer
    wrong = QUICK | {"language": "csharp", "code": "\n".join(lines).replace("n.Sum", "m.Sum")}
    _, answer = patient.answered(service, "/run_code", wrong)
    assert "main.cs(2," in answer["compile_result"]["stderr"]


@pytest.mark.parametrize("blank", [" ", "\n", "\r\n", " \n"])
def test_usings_are_added_in_linear_time(blank: str) -> None:
    """The service reads programs of up to 128 KiB while other requests wait."""
    begin = time.process_time()
    RunCode(code=blank * 60_000 + "class P { }", language="csharp").program  # noqa: B018
    assert time.process_time() - begin < 1.0


def test_it_answers_a_ping(service: Service) -> None:
    assert service.client.get("/v1/ping") == (200, "pong")


# --- many, and trouble; one service for all routes that hold requests


@pytest.fixture(scope="module")
def narrow() -> Iterator[Service]:
    """A service with room for four submissions. A running submission whose client disconnects runs to its end."""
    with running_service(slots=2, queue_submissions=4) as running:
        yield running


LABEL = {"inputs": INPUTS, "outputs": OUTPUTS}
NAMES = ["right", "wrong", "crashing", "broken"] * 4
TEXTS = [fenced(f"# {number}\n{STREAMS[name]}") for number, name in enumerate(NAMES)]
IS_RIGHT = [name == "right" for name in NAMES]
CASES = {"type": "stdin_stdout", "input": INPUTS, "output": OUTPUTS}


@pytest.mark.parametrize(
    ("path", "bodies", "read", "wanted"),
    [
        (
            "/run_code",
            [QUICK | {"code": f"print({number})", "run_timeout": 10} for number in range(64)],
            lambda answer: answer["run_result"]["stdout"],
            [f"{number}\n" for number in range(64)],
        ),
        (
            "/get_reward",
            [{"query": [text], "prompts": [""], "labels": [LABEL]} for text in TEXTS],
            lambda answer: answer["rewards"],
            [[float(each)] for each in IS_RIGHT],
        ),
        (
            "/get_reward",  # in one request
            [{"query": TEXTS, "prompts": [""] * len(TEXTS), "labels": [LABEL] * len(TEXTS)}],
            lambda answer: answer["rewards"],
            [[float(each) for each in IS_RIGHT]],
        ),
        (
            "/slime",
            [{"prompt": "", "response": text, "label": LABEL} for text in TEXTS],
            lambda answer: answer,
            [float(each) for each in IS_RIGHT],
        ),
        (
            "/common_evaluate_batch",
            [{"completion": text, "config": {"provided_data": {"test_cases": CASES}}} for text in TEXTS],
            lambda answer: answer["accepted"],
            IS_RIGHT,
        ),
    ],
)
def test_more_than_there_is_room_for_are_held_and_all_are_answered(
    narrow: Service, path: str, bodies: list[dict[str, Any]], read: Callable[[Any], Any], wanted: list[Any]
) -> None:
    answers = at_once(narrow, path, bodies)
    assert [status for status, _ in answers] == [200] * len(bodies), answers
    assert [read(answer) for _, answer in answers] == wanted


def test_a_client_that_leaves_takes_all_submissions_of_its_request_along(narrow: Service) -> None:
    naps = [fenced(f"import time\ntime.sleep({2 + number / 64})") for number in range(64)]
    body = {"query": naps, "prompts": [""] * 64, "labels": [LABEL] * 64}
    with impatient(narrow, "/get_reward", body):
        until_pending(narrow, 4)
    until_pending(narrow, 0)


def test_who_goes_away_is_forgotten(narrow: Service) -> None:
    with impatient(narrow, "/run_code", LONG):
        until_pending(narrow, 1)
    until_pending(narrow, 0)


def test_who_goes_away_while_held_is_never_run(narrow: Service) -> None:
    with impatient(narrow, "/run_code", LONG), impatient(narrow, "/run_code", LONG):
        with impatient(narrow, "/run_code", LONG), impatient(narrow, "/run_code", LONG):
            until_pending(narrow, 4)
            with impatient(narrow, "/run_code", LONG):
                pass
        until_pending(narrow, 2, 2)  # neither those who waited nor the one who was held are there any more
    until_pending(narrow, 0)


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_and_what_is_not_run_in_time_are_504(monkeypatch: pytest.MonkeyPatch, comes_to: Any) -> None:
    status, answer = answered(monkeypatch, run_code.routes, "/run_code", QUICK | {"code": "1"}, comes_to)
    assert (status, answer["error"]["type"]) == (504, "overdue")


def test_when_slots_die_again_and_again_it_is_504_and_later_all_is_well() -> None:
    with running_service(slots=1) as victim:
        with dying_slots(victim):
            status, answer = victim.client.post("/run_code", LONG)
        assert (status, answer["error"]["type"]) == (504, "overdue")
        assert "worker_lost" in answer["error"]["message"]
        victim.wait_ready()
        assert ran(victim, STREAMS["right"], stdin=INPUTS[0])["stdout"] == OUTPUTS[0]
        assert pending(victim) == 0
