"""What an answer says of how a program ended, and how much of what it printed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Service

LIMITS = {"cpu_seconds": 1, "wall_seconds": 2}


def first(service: Service, code: str, **fields: Any) -> dict[str, Any]:
    test = fields.pop("test", {"type": "stdin", "output": ""})
    result: dict[str, Any] = service.grade(code=code, tests=[test], limits=LIMITS, **fields)["tests"][0]
    return result


@pytest.mark.parametrize(
    ("code", "verdict", "exit_code", "signal"),
    [
        ("pass", "AC", 0, None),
        ("print(1)", "WA", 0, None),
        ("import sys; sys.exit(3)", "RTE", 3, None),
        ("raise ValueError", "RTE", 1, None),
        ("import os; os._exit(255)", "RTE", 255, None),
        ("import ctypes; ctypes.string_at(0)", "RTE", None, 11),
        ("while True: pass", "TLE", None, 9),
        ("x = 'x' * 10**10", "MLE", 111, None),
        ("print(", "CE", 1, None),
    ],
)
def test_a_program_ends_with_a_status_or_by_a_signal(
    service: Service, code: str, verdict: str, exit_code: int | None, signal: int | None
) -> None:
    result = first(service, code)
    assert (result["verdict"], result["exit_code"], result["signal"]) == (verdict, exit_code, signal)


def test_calls_and_assertions_have_an_end_too(service: Service) -> None:
    call = {"type": "call", "function": "f", "args": [1], "output": 1}
    check = {"type": "assert", "code": "assert f(1) == 1"}
    for test in (call, check):
        assert first(service, "def f(x):\n    return x", test=test)["exit_code"] == 0
        assert first(service, "import os\ndef f(x):\n    os._exit(7)", test=test)["exit_code"] == 7


def test_a_text_is_no_program_and_ends_with_nought(service: Service) -> None:
    assert first(service, "1", language="text", test={"type": "stdin", "output": "1"})["exit_code"] == 0


@pytest.mark.parametrize(("asked", "shown"), [(None, 4096), (0, 0), (10, 10), (100_000, 50_001)])
def test_as_much_is_shown_as_is_asked_for(service: Service, asked: int | None, shown: int) -> None:
    code = "import sys\nprint('x' * 50_000)\nprint('y' * 3_000, file=sys.stderr)"
    result = first(service, code, display_bytes=asked)
    assert len(result["stdout"]) == shown
    assert result["stdout_truncated"] == (shown < 50_001)
    assert len(result["stderr"]) == min(shown, 3_001)


def test_judging_sees_all_whatever_is_shown(service: Service) -> None:
    test = {"type": "stdin", "output": "x" * 50_000}
    result = first(service, "print('x' * 50_000)", display_bytes=1, test=test)
    assert (result["verdict"], result["stdout"]) == ("AC", "x")


@pytest.mark.parametrize(
    ("asked", "named"), [(-1, "display_bytes"), ("9", "display_bytes"), (1 << 30, "SANDBOX_MAX_DISPLAY")]
)
def test_no_more_is_shown_than_is_allowed(service: Service, asked: Any, named: str) -> None:
    body = {"code": "1", "tests": [{"type": "stdin", "output": ""}], "display_bytes": asked}
    status, answer = service.client.post("/v1/grade", body)
    assert status == 422
    assert named in answer["error"]["message"]


def test_more_or_less_shown_is_another_submission(service: Service) -> None:
    body = {"id": "shown", "code": "print(123)", "tests": [{"type": "stdin", "output": ""}], "display_bytes": 1}
    assert service.grade(**body)["tests"][0]["stdout"] == "1"
    assert service.client.post("/v1/grade", body | {"display_bytes": 2})[0] == 409
