"""`POST /run_code`: what became of a program, in SandboxFusion's words, for every way in which one can end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_service.api.compat.run_code import RunCode
from tests.compat.crowd import at_once, dying_slots, impatient, pending, until_pending
from tests.compat.programs import INPUTS, OUTPUTS, STREAMS
from tests.conftest import Service, running_service

QUICK = {"language": "python", "run_timeout": 1, "compile_timeout": 1}
LONG = QUICK | {"code": "import time\ntime.sleep(4)", "run_timeout": 10, "compile_timeout": 15}


def ran(service: Service, code: str, **fields: Any) -> dict[str, Any]:
    status, answer = service.client.post("/run_code", QUICK | {"code": code} | fields)
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
        ({"run_timeout": 30}, 32),  # SkyRL
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
        ({"run_timeout": 0}, "run_timeout"),
        ({"run_timeout": None}, "run_timeout"),
        ({"run_timeout": 10**6}, "cpu_seconds"),
        ({"compile_timeout": -1}, "compile_timeout"),
        ({"files": {"a": ""}}, "files"),
        ({"files": []}, "files"),
        ({"fetch_files": ["a"]}, "files"),
        ({"stdin": 3}, "stdin"),
        ({"memory_limit_MB": 10**6}, "memory_bytes"),
        ({"code": "\ud800"}, "body"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(service: Service, fields: dict[str, Any], named: str) -> None:
    status, answer = service.client.post("/run_code", QUICK | {"code": "print(1)"} | fields)
    assert status == 422
    assert named in answer["error"]["message"]


def test_it_answers_a_ping(service: Service) -> None:
    assert service.client.get("/v1/ping") == (200, "pong")


# --- many, and trouble


@pytest.fixture(scope="module")
def narrow() -> Iterator[Service]:
    """Room for four submissions. What runs when its client goes away runs on to its end."""
    with running_service(slots=2, queue_submissions=4) as running:
        yield running


def test_more_than_there_is_room_for_are_held_and_all_are_answered(narrow: Service) -> None:
    codes = {f"print({number})": f"{number}\n" for number in range(64)}
    answers = at_once(narrow, "/run_code", [QUICK | {"code": code, "run_timeout": 10} for code in codes])
    assert [(status, answer["run_result"]["stdout"]) for status, answer in answers] == [
        (200, out) for out in codes.values()
    ]


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


def test_what_is_not_run_in_time_is_504(narrow: Service) -> None:
    with impatient(narrow, "/run_code", LONG), impatient(narrow, "/run_code", LONG):
        until_pending(narrow, 2)
        status, answer = narrow.client.post("/run_code", {"code": "1", "language": "python", "run_timeout": 0.5})
    assert (status, answer["error"]["type"]) == (504, "overdue")
    assert "2 s" in answer["error"]["message"]
    until_pending(narrow, 0)


def test_when_slots_die_again_and_again_it_is_504_and_later_all_is_well() -> None:
    with running_service(slots=1) as victim:
        with dying_slots(victim):
            status, answer = victim.client.post("/run_code", LONG)
        assert (status, answer["error"]["type"]) == (504, "overdue")
        assert "worker_lost" in answer["error"]["message"]
        victim.wait_ready()
        assert ran(victim, STREAMS["right"], stdin=INPUTS[0])["stdout"] == OUTPUTS[0]
        assert pending(victim) == 0
