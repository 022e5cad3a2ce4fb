"""A loaded machine changes no verdict: programs are judged by the processor time they use, not by the clock.

The programs are graded with two spinning processes on every processor and 64 requests in flight, and by `make test-all`
undisturbed too. Among them are programs that use much of their CPU limit, which a clock would refuse under such load,
and some that sleep, which only a clock can stop.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conftest import Service
from tests.markers import one_in

Json = dict[str, Any]

IN_FLIGHT = 64
MANY = 10
SPINNERS = 2  # on each processor
BURN = "import time\nwhile time.process_time() < {seconds}: pass\nprint(int(input()) + 1)"


def stdin(code: str, number: int, limits: Json) -> Json:
    test = {"type": "stdin", "input": f"{number}\n", "output": f"{number + 1}\n"}
    return {"code": code, "tests": [test] * 3, "limits": limits}


def call(code: str, number: int) -> Json:
    return {
        "code": code,
        "tests": [{"type": "call", "function": "f", "args": [n], "output": n + number} for n in range(5)],
    }


def check(code: str, number: int) -> Json:
    test = f"def check(candidate):\n    for n in range(9):\n        assert candidate(n) == n * {number}\n"
    return {"code": code, "tests": [{"type": "assert", "code": test, "entry_point": "f"}]}


def submissions(times: int) -> dict[str, Json]:
    """By id, which begins with the right verdict; most of them so many times."""
    short = {"cpu_seconds": 0.5, "wall_seconds": 2.0}
    found: dict[str, Json] = {}
    for n in range(times):
        found[f"AC-stdin-{n}"] = stdin("print(int(input()) + 1)", n, short)
        found[f"WA-stdin-{n}"] = stdin("print(int(input()) + 2)", n, short)
        found[f"AC-call-{n}"] = call(f"def f(x): return x + {n}", n)
        found[f"AC-check-{n}"] = check(f"def f(x): return x * {n}", n)
        found[f"WA-check-{n}"] = check(f"def f(x): return x * {n} + 1", n)
        found[f"RTE-stdin-{n}"] = stdin("print(1 / 0)", n, short)
    for n in range(min(4, times)):
        # three fifths of its limit: with four spinners that is several seconds by the clock
        found[f"AC-burn-{n}"] = stdin(BURN.format(seconds=0.3), n, {"cpu_seconds": 0.5, "wall_seconds": 1.0})
        found[f"TLE-spin-{n}"] = stdin("while True: pass", n, {"cpu_seconds": 0.2})
    found["AC-most"] = stdin(BURN.format(seconds=0.8), 1, {"cpu_seconds": 1, "wall_seconds": 1.5})
    found["TLE-sleep"] = stdin("import time; time.sleep(60)", 1, {"cpu_seconds": 1, "wall_seconds": 1.5})
    return found


@contextmanager
def busy_processors() -> Iterator[None]:
    """Keep every processor busy with processes that have nothing else to do."""
    spinners = [
        subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"])
        for cpu in sorted(os.sched_getaffinity(0))
        for _ in range(SPINNERS)
    ]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def grade_all(service: Service, name: str, times: int) -> dict[str, str]:
    """Grade each in a request of its own, 64 at a time, and return what was said of each."""

    def grade(item: tuple[str, Json]) -> tuple[str, str]:
        key, body = item
        answer = service.grade(id=f"{name}/{key}", **body)
        return key, f"{answer['verdict']} {answer['message'] or answer['failure_reason'] or ''}"

    with ThreadPoolExecutor(IN_FLIGHT) as threads:
        return dict(threads.map(grade, submissions(times).items()))


def wrong(verdicts: dict[str, str]) -> dict[str, str]:
    """Those whose verdict is not the one that their id begins with."""
    return {key: said for key, said in verdicts.items() if said.split()[0] != key.partition("-")[0]}


@pytest.mark.full  # tests/service/test_corpora.py has programs of every verdict
def test_undisturbed_all_verdicts_are_right(service: Service) -> None:
    found = grade_all(service, "quiet", MANY)
    assert len(found) == len(submissions(MANY))
    assert wrong(found) == {}


@pytest.mark.parametrize("times", one_in(2, [3, MANY]))
def test_under_load_all_verdicts_are_the_same(service: Service, times: int) -> None:
    with busy_processors():
        found = grade_all(service, f"loaded-{times}", times)
    assert len(found) == len(submissions(times))
    assert wrong(found) == {}
