"""Nothing grows: after hundreds of tests the service's processes hold what they held before.

Descriptors, processes, mounts, nameless files and files in the jails are counted as the kernel shows them, by the same
inventory that `python -m benchmarks soak` takes before and after a hundred thousand tests.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import pytest

from benchmarks import soak
from tests.conftest import Service

TESTS = [300, pytest.param(2000, marks=pytest.mark.full)]
SETTLE_SECONDS = 60.0  # the spares that start and the dead that are buried take longer on a busy machine
COUNTED = ["processes", "memfds", "mounts_host", "mounts_jails", "files_jails"]
RESIDENT_BYTES = 48 << 20  # answers are remembered for a while; what grows with every test would be far above

RIGHT = "print(int(input()) + 1)"
CALLED = "def solve(n): return n + 1"
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"


def stdin(number: int) -> dict[str, Any]:
    return {"type": "stdin", "input": f"{number}\n", "output": f"{number + 1}\n"}


def bodies() -> list[dict[str, Any]]:
    """Fifty tests of every kind and end, among them those that leave most behind."""
    short = {"cpu_seconds": 0.1, "output_bytes": 1000}
    one = [stdin(1)]
    return [
        {"code": RIGHT, "tests": [stdin(number) for number in range(20)]},
        {
            "code": CALLED,
            "tests": [{"type": "call", "function": "solve", "args": [n], "output": n + 1} for n in range(10)],
        },
        {"code": CALLED, "tests": [{"type": "assert", "code": CHECK, "entry_point": "solve"}] * 10},
        {"code": "print(1 / 0)", "tests": one},
        {"code": "while True: pass", "tests": one, "limits": short},
        {"code": "print('x' * 10**6)", "tests": one, "limits": short},
        {"code": "print(", "tests": one},
        {"code": "open('/tmp/left', 'w').write('x' * 9999)", "tests": one},
        {"code": "import os; os.memfd_create('left'); os.kill(os.getpid(), 11)", "tests": one},
        {
            "code": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
            "tests": one,
        },
        {"code": "import os\nos.symlink('/etc', 'a'); os.mkdir('b'); os.mkfifo('c')", "tests": one},
        {"code": "x = bytearray(50 << 20)", "tests": one},
        {"completion": "there is no program in this answer", "tests": one},
    ]


def run(service: Service, tests: int) -> None:
    wanted = bodies() * (tests // sum(len(body["tests"]) for body in bodies()))
    grades = service.client.batch(wanted)
    assert len(grades) == len(wanted)
    assert all(grade["verdict"] != "IE" for grade in grades.values())


def inventory(service: Service) -> dict[str, int]:
    return asdict(soak.take([process.pid for process in service.family()]))


def of_jails(service: Service) -> list[int]:
    """How many mounts each process of the family sees, least first: the service, its slots, and what is in jails."""
    return sorted(soak.mounts(process.pid) for process in service.family())


def grown(before: dict[str, int], after: dict[str, int]) -> list[str]:
    return [held for held in COUNTED if before[held] != after[held]]


@pytest.fixture(scope="module", params=TESTS)
def before_and_after(
    service: Service, request: pytest.FixtureRequest
) -> tuple[dict[str, int], dict[str, int], list[int], list[int]]:
    for body in bodies():  # every slot has seen every kind, and every cache has what it will ever have
        service.client.batch([body] * 8)
    run(service, request.param)  # as large a request, which a process of its own reads
    time.sleep(1.0)
    before, mounts = inventory(service), of_jails(service)
    run(service, request.param)
    end = time.monotonic() + SETTLE_SECONDS
    while grown(before, after := inventory(service)) and time.monotonic() < end:  # spares start, the dead are buried
        time.sleep(0.5)
    return before, after, mounts, of_jails(service)


@pytest.mark.parametrize("held", COUNTED)
def test_the_family_holds_as_many_as_before(before_and_after: Any, held: str) -> None:
    before, after, *_ = before_and_after
    assert before[held] == after[held]
    assert held.startswith("files") or after[held] > 0


def test_descriptors_grow_by_a_handful_at_most(before_and_after: Any) -> None:
    """A connection may be open for a moment."""
    before, after, *_ = before_and_after
    assert after["descriptors"] <= before["descriptors"] + 4


def test_memory_does_not_grow_with_the_number_of_tests(before_and_after: Any) -> None:
    before, after, *_ = before_and_after
    assert after["resident_bytes"] <= before["resident_bytes"] + RESIDENT_BYTES


def test_no_process_sees_more_mounts_than_before(before_and_after: Any) -> None:
    *_, before, after = before_and_after
    assert before == after
