"""State between the calls of a submission: who shares a box, and what finds a function that needs its earlier calls."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conftest import Service, running_service

REMEMBERS = "answers = iter(range(100))\ndef f(n):\n    return next(answers)"
FROM_THE_FIRST = "seen = []\ndef f(n):\n    seen.append(n)\n    return n if seen[0] == 0 else -1"
POISONED = "seen = []\ndef f(n):\n    seen.append(n)\n    return n if len(seen) == 1 else -1"
HONEST = "memo = {}\ndef f(n):\n    return memo.setdefault(n, n)"


def calls(count: int = 8) -> list[dict[str, Any]]:
    return [{"type": "call", "function": "f", "args": [n], "output": n} for n in range(count)]


@pytest.mark.parametrize(
    ("code", "submission", "test"),
    [(REMEMBERS, "AC", "WA"), (FROM_THE_FIRST, "AC", "WA"), (POISONED, "AC", "AC"), (HONEST, "AC", "AC")],
    ids=["counts its calls", "needs its first call", "right only in a fresh box", "honest"],
)
def test_isolation_gives_each_call_a_box(service: Service, code: str, submission: str, test: str) -> None:
    assert service.grade(code=code, tests=calls())["verdict"] == submission
    assert service.grade(code=code, tests=calls(), isolation="submission")["verdict"] == submission
    assert service.grade(code=code, tests=calls(), isolation="test")["verdict"] == test


@pytest.mark.parametrize(("code", "verdict"), [(REMEMBERS, "WA"), (POISONED, "AC"), (HONEST, "AC")])
def test_a_shuffled_order_is_another(service: Service, code: str, verdict: str) -> None:
    grade = service.grade(code=code, tests=calls(32), isolation="shuffled", stop_on_failure=False)
    assert grade["verdict"] == verdict
    assert [result["index"] for result in grade["tests"]] == list(range(32))


def test_isolation_is_a_default_of_a_batch(service: Service) -> None:
    shared = {"id": "shared", "code": REMEMBERS, "isolation": "submission"}
    status, answer = service.client.post("/v1/grade", {"code": HONEST, "tests": calls(), "isolation": "box"})
    assert (status, "isolation" in answer["error"]["message"]) == (422, True)
    grades = service.client.batch([{"id": "isolated", "code": REMEMBERS}, shared], tests=calls(), isolation="test")
    assert (grades["isolated"]["verdict"], grades["shared"]["verdict"]) == ("WA", "AC")


def test_what_is_right_only_in_order_is_a_flip() -> None:
    with running_service(recheck_share=0, reorder_share=1, slots=1) as service:
        assert service.grade(code=HONEST, tests=calls())["verdict"] == "AC"
        wait_for(service, rechecks=1, flips=0)
        assert service.grade(code=REMEMBERS, tests=calls(32))["verdict"] == "AC"
        wait_for(service, rechecks=2, flips=1)
        assert service.grade(code="def f(n):\n    return -1", tests=calls())["verdict"] == "WA"
        stdin = {"type": "stdin", "input": "", "output": "1"}
        assert service.grade(code="print(1)", tests=[stdin, stdin])["verdict"] == "AC"
        time.sleep(0.5)
        wait_for(service, rechecks=2, flips=1)


def wait_for(service: Service, **counts: int) -> None:
    """Until the counters say so."""
    names = {"rechecks": "proctor_rechecks_total", "flips": "proctor_verdict_flips_total"}
    end = time.monotonic() + 20
    while time.monotonic() < end:
        text = service.client.request("GET", "/metrics")[1].decode()
        found = {name: read(text, names[name]) for name in counts}
        if found == counts:
            return
        time.sleep(0.05)
    raise AssertionError(f"{found}, not {counts}")


def read(metrics: str, name: str) -> int:
    [line] = [line for line in metrics.splitlines() if line.startswith(f"{name} ")]
    return int(float(line.split()[1]))
