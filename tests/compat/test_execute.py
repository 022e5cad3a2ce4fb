"""`POST /execute`: results of runs in NeMo-Skills' format."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.api.compat import execute
from tests.compat import patient
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import STREAMS
from tests.conftest import Service

ASKED = {"language": "python", "timeout": 1.0, "std_input": "1 2\n", "max_output_characters": 1000}


def executed(service: Service, code: str, **fields: Any) -> dict[str, Any]:
    status, answer = patient.answered(service, "/execute", ASKED | {"generated_code": code} | fields)
    assert status == 200, answer
    assert answer.keys() == {"process_status", "stdout", "stderr"}
    found: dict[str, Any] = answer
    return found


@pytest.mark.parametrize(
    ("code", "status", "stdout", "stderr"),
    [
        (STREAMS["right"], "completed", "3\n", ""),
        ("", "completed", "", ""),
        (STREAMS["crashing"], "completed", "", "ValueError: no\n"),
        (STREAMS["broken"], "completed", "", "SyntaxError: '(' was never closed\n"),
        ("import sys\nprint(1)\nsys.exit(3)", "completed", "1\n", ""),
        (STREAMS["slow"], "timeout", "", "Execution timed out after 1 seconds\n"),
        ("import time\nprint(1, flush=True)\ntime.sleep(9)", "timeout", "", "Execution timed out after 1 seconds\n"),
        ("x = 'x' * 10**10", "error", "", "MiB\n"),
        ("while True: print('x' * 10**6)", "error", "x" * 1000 + "<output cut>", "the limit is 4194304\n"),
    ],
)
def test_every_end_is_told(service: Service, code: str, status: str, stdout: str, stderr: str) -> None:
    answer = executed(service, code)
    assert (answer["process_status"], answer["stdout"]) == (status, stdout)
    assert answer["stderr"].endswith(stderr)


def test_outputs_are_cut_and_say_so(service: Service) -> None:
    code = "import sys\nprint('x' * 10)\nsys.stderr.write('y' * 12)"
    answer = executed(service, code, max_output_characters=11)
    assert (answer["stdout"], answer["stderr"]) == ("x" * 10 + "\n", "y" * 11 + "<output cut>")


@pytest.mark.parametrize(
    "fields",
    [
        {"language": "ipython"},
        {"language": "cobol"},
        {"language": "lean4"},
        {"timeout": 0},
        {"timeout": 1e9},
        {"max_output_characters": -1},
        {"generated_code": None},
    ],
)
def test_what_is_not_served_is_refused(service: Service, fields: dict[str, Any]) -> None:
    status, answer = service.client.post("/execute", ASKED | {"generated_code": ""} | fields)
    assert status == 422
    assert answer["error"]["message"]


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_faults_are_no_answers(monkeypatch: pytest.MonkeyPatch, comes_to: Any) -> None:
    assert answered(monkeypatch, execute.routes, "/execute", ASKED | {"generated_code": ""}, comes_to)[0] == 503
