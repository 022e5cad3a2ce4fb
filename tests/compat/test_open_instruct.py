"""`POST /test_program` and `/test_program_stdio`: a 0 or a 1 for each test, as open-instruct sums them up."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.api.compat import health, open_instruct
from sandbox_service.schema import Grade, TestResult, Verdict
from tests.compat import patient
from tests.compat.faulty import BAD_TEST, BROKEN, LATE, NoQueue, answered, got
from tests.compat.programs import ASSERTIONS, FUNCTIONS, INPUTS, OUTPUTS, STREAMS
from tests.conftest import Service

CASES = [{"input": given, "output": wanted} for given, wanted in zip(INPUTS, OUTPUTS, strict=True)]
ASSERTS, STDIO = "/test_program", "/test_program_stdio"


def packed(tests: object, protocol: int | None = None) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(tests, protocol))).decode()


def asked(service: Service, path: str, program: str, tests: object, **fields: Any) -> tuple[int, Any]:
    return patient.answered(service, path, {"program": program, "tests": tests, **fields})


def results(service: Service, path: str, program: str, tests: object, **fields: Any) -> list[int]:
    status, answer = asked(service, path, program, tests, **fields)
    assert status == 200, answer
    assert answer.keys() == {"results", "runtimes"}
    limit = fields.get("max_execution_time", 1.0)
    for passed, runtime in zip(answer["results"], answer["runtimes"], strict=True):
        assert 0 <= runtime <= limit if passed else runtime == -1.0
    found: list[int] = answer["results"]
    return found


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("right", [1, 1, 1]),
        ("wrong", [1, 0, 1]),
        ("slow", [0, 0, 0]),
        ("crashing", [0, 0, 0]),
        ("broken", [0, 0, 0]),
        ("equal to all", [0, 0, 0]),
        ("gone", [0, 0, 0]),
    ],
)
def test_assertions(service: Service, program: str, expected: list[int]) -> None:
    assert results(service, ASSERTS, FUNCTIONS[program], ASSERTIONS, max_execution_time=0.5) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [("right", [1, 1, 1]), ("wrong", [1, 0, 1]), ("slow", [0, 0, 0]), ("crashing", [0, 0, 0]), ("broken", [0, 0, 0])],
)
def test_inputs_and_outputs(service: Service, program: str, expected: list[int]) -> None:
    assert results(service, STDIO, STREAMS[program], CASES) == expected


@pytest.mark.parametrize("form", [lambda tests: tests, json.dumps, packed, lambda tests: packed(tests, 0)])
def test_tests_in_any_form(service: Service, form: Any) -> None:
    assert results(service, ASSERTS, FUNCTIONS["wrong"], form(ASSERTIONS)) == [1, 0, 1]
    assert results(service, STDIO, STREAMS["wrong"], form(CASES)) == [1, 0, 1]


def test_calls(service: Service) -> None:
    calls = [
        {"input": f"{left}\n{right}", "output": f"{left + right}", "fn_name": "add"}
        for left, right in ((1, 2), (10, 5))
    ]
    assert results(service, STDIO, FUNCTIONS["wrong"], calls) == [1, 0]


def test_numbers_are_compared_as_livecodebench_does(service: Service) -> None:
    program = "print(1.50)\nprint('a  b  ')"
    assert results(
        service, STDIO, program, [{"input": "", "output": "1.5\na  b"}, {"input": "", "output": "1.5 a b"}]
    ) == [1, 0]


def test_assertions_that_do_not_use_the_program(service: Service) -> None:
    tests = ["assert False", "assert True", "assert len([1]) == 1", "assert a == 1", "assert b == 1", "f = lambda: b"]
    assert results(service, ASSERTS, "a = 1", tests) == [0, 1, 1, 1, 0, 1]
    assert results(service, ASSERTS, "raise ValueError", tests) == [0] * 6
    assert results(service, ASSERTS, "a = (", tests) == [0] * 6


def test_assertions_about_globals_of_the_program(service: Service) -> None:
    program = "import math, re\nresult = math.sqrt(16)\npattern = re.compile('x')"
    tests = ["assert result == 4.0", "assert result == 5.0", "assert pattern is not None"]
    assert results(service, ASSERTS, program, tests) == [1, 0, 1]


def test_a_test_that_sleeps_fails_alone(service: Service) -> None:
    tests = ["assert a == 1", "import time\ntime.sleep(60)", "assert a == 1"]
    assert results(service, ASSERTS, "a = 1", tests, max_execution_time=0.5) == [1, 0, 1]


def test_imports_that_are_forbidden_there(service: Service) -> None:
    assert results(service, STDIO, "import os, threading\n" + STREAMS["right"], CASES) == [1, 1, 1]


class Malicious:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ([], "no tests"),
        ("", "neither JSON"),
        ("[]", "no tests"),
        (None, "null"),
        (3, "a number"),
        ([1], "a number"),
        (["assert add(1, 2) == 3", {"input": "", "output": ""}], "a text"),
        ("eJunk", "base 64"),
        (packed("no list"), "neither JSON"),
        (packed([["a"] * 9] * 3), "repeats a container"),
        (packed(["x" * 9_000_000] * 9), "until it is too large"),
        (packed(["\ud800"]), "surrogates"),
        ('["\\ud800"]', "neither JSON"),
    ],
    ids=lambda given: str(given)[:20],
)
def test_what_are_no_tests_is_refused(service: Service, tests: object, words: str) -> None:
    status, answer = asked(service, ASSERTS, FUNCTIONS["right"], tests)
    assert status == 422, answer
    assert words in answer["error"]["message"]


def test_a_bomb_is_refused(service: Service) -> None:
    bomb = base64.b64encode(zlib.compress(b"0" * 100_000_000, 1)).decode()
    status, answer = asked(service, ASSERTS, FUNCTIONS["right"], bomb)
    assert (status, "more than" in answer["error"]["message"]) == (422, True)


def test_nothing_is_unpickled(service: Service, tmp_path: Path) -> None:
    status, answer = asked(service, ASSERTS, FUNCTIONS["right"], packed([Malicious(tmp_path / "made")]))
    assert (status, (tmp_path / "made").exists()) == (422, False)
    assert "not unpickled" in answer["error"]["message"]


@pytest.mark.parametrize("fields", [{"max_execution_time": 0}, {"max_execution_time": 1e9}, {"program": None}])
def test_bad_fields_are_refused(service: Service, fields: dict[str, Any]) -> None:
    status, _ = service.client.post(ASSERTS, {"program": "", "tests": ASSERTIONS} | fields)
    assert status == 422


def test_the_answer_has_every_test_in_its_order() -> None:
    tests = [TestResult(index=0, verdict=Verdict.AC, cpu_seconds=0.5), TestResult(index=2, verdict=Verdict.WA)]
    grade = Grade(id="x", verdict=Verdict.WA, reward=0.5, passed=1, total=3, tests=tests)
    assert open_instruct.answer_of(grade) == {"results": [1, 0, 0], "runtimes": [0.5, -1.0, -1.0]}


@pytest.mark.parametrize(("comes_to", "status"), [(BROKEN, 503), (LATE, 503), (BAD_TEST, 422)])
def test_faults(monkeypatch: pytest.MonkeyPatch, comes_to: Any, status: int) -> None:
    body = {"program": "", "tests": ASSERTIONS}
    assert answered(monkeypatch, open_instruct.routes, ASSERTS, body, comes_to)[0] == status


@pytest.mark.parametrize(("given", "seconds"), [(0.1, 28), (1, 28), (5, 48), (100, 298)])
def test_its_client_is_answered_while_it_waits(given: float, seconds: float) -> None:
    assert open_instruct.TestedProgram(program="", tests=[], max_execution_time=given).seconds == seconds


def test_health(service: Service) -> None:
    assert service.client.get("/health") == (200, {"status": "healthy"})
    assert got(health.routes, "/health", NoQueue(["no jail"])) == (503, {"status": "unhealthy", "reasons": ["no jail"]})
