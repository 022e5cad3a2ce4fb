"""Long tests and long submissions do not keep others waiting, whatever they make their slots believe."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.conftest import Service, running_service

Json = dict[str, Any]

WALL_SECONDS = 2.0

# sixty threads that wake together: the most unlucky waits for a processor for longer than for anything else
STORM = """
import threading, time
condition = threading.Condition()
def work():
    while True:
        with condition:
            condition.wait(0.02)
        until = time.thread_time() + 0.0002
        while time.thread_time() < until:
            pass
for _ in range(60):
    threading.Thread(target=work, daemon=True).start()
while True:
    with condition:
        condition.notify_all()
    time.sleep(0.03)
"""
# threads that are made and end: one that ends while the watcher looks at it
BRIEF = """
import threading, time
while True:
    threads = [threading.Thread(target=time.sleep, args=(0.0005,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()  # on a busy machine more would begin than end, and the limit of processes would be met
    time.sleep(0.005)
"""


@pytest.fixture(scope="module")
def small() -> Iterator[Service]:
    """A service with two slots, which nobody else uses."""
    with running_service(slots=2, recheck_share=0) as service:
        yield service


def short(number: int, priority: str = "normal") -> Json:
    return {
        "code": f"print(input()) # {number}",
        "tests": [{"type": "stdin", "input": "1\n", "output": "1\n"}],
        "labels": {"priority": priority, "client": "short"},
    }


def long(number: int, tests: int = 16, seconds: float = 0.3) -> Json:
    return {
        "code": f"import time\ntime.sleep({seconds})\nprint(input()) # {number}",
        "tests": [{"type": "stdin", "input": f"{each}\n", "output": f"{each}\n"} for each in range(tests)],
        "labels": {"client": "long"},
    }


@pytest.mark.parametrize("priority", ["normal", "high"])
def test_a_short_submission_does_not_wait_for_the_end_of_long_ones(small: Service, priority: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        grades = [threads.submit(small.grade, **long(number)) for number in range(4)]
        time.sleep(1)
        for number in range(3):
            assert small.grade(**short(number, priority))["verdict"] == "AC"
        assert not all(grade.done() for grade in grades)
        assert_whole([grade.result() for grade in grades], 16)


def assert_whole(grades: list[Json], tests: int) -> None:
    for grade in grades:
        assert (grade["verdict"], grade["passed"], grade["grader"]["attempts"]) == ("AC", tests, 1)
        assert [test["index"] for test in grade["tests"]] == list(range(tests))
        assert grade["timing"]["graded_seconds"] >= tests * 0.3


def storm(code: str, tests: int) -> Json:
    return {
        "code": code,
        "tests": [{"type": "stdin", "output": "x"}] * tests,
        "limits": {"cpu_seconds": 10, "wall_seconds": WALL_SECONDS},
        "labels": {"client": "storm"},
        "stop_on_failure": False,
    }


@pytest.mark.parametrize(
    ("code", "count"),
    [(STORM, 1), (BRIEF, 4), *(pytest.param(*each, marks=pytest.mark.full) for each in ((STORM, 4), (BRIEF, 1)))],
)
def test_one_whose_own_threads_compete_does_not_stop_the_other_slots(small: Service, code: str, count: int) -> None:
    """Short submissions are answered while storms go on, which take many minutes unless they are cancelled."""
    names = [f"storm-{len(code)}-{count}-{number}" for number in range(count)]
    for name in names:
        status, _ = small.client.post("/v1/submissions", storm(f"{code}# {name}", 1000) | {"id": name})
        assert status == 202
    time.sleep(0.3)
    try:
        for number in range(4):
            assert small.grade(**short(number, "high"))["verdict"] == "AC"
        assert [small.client.get(f"/v1/submissions/{name}")[0] for name in names] == [202] * count
    finally:
        for name in names:
            small.client.request("DELETE", f"/v1/submissions/{name}")


@pytest.mark.parametrize("code", [STORM, BRIEF])
def test_one_whose_own_threads_compete_ends_at_its_time_limit(small: Service, code: str) -> None:
    assert small.grade(**storm(code, 1))["verdict"] == "TLE"
