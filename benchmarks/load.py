"""Checks that load changes no verdict: grades the same submissions alone, one by one, and then under load.

Under load, spinning processes keep every core busy and 64 requests are in flight. A queue, a slow neighbour or a loaded
machine must never make a right program wrong, so any difference fails the run.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.contenders.base import UnavailableError
from benchmarks.service import Service
from benchmarks.workloads import Body, NoDataError

IN_FLIGHT = 64
SPINNERS_PER_CORE = 2
FILES = ("humaneval.jsonl", "quixbugs.jsonl", "leetcode_train_120.jsonl")
SPIN = [sys.executable, "-I", "-S", "-c", "while True: pass"]

Answer = tuple[str, tuple[str, ...]]  # the submission's verdict and its tests'


def main(arguments: list[str]) -> int:
    """Grade twice and compare; returns 0 if all verdicts are equal, 1 if not, 2 without data."""
    options = _options(arguments)
    service = Service(options.url)
    try:
        bodies = submissions(options.files or [workloads.data_folder() / name for name in FILES], options.limit)
        service.start()
    except (NoDataError, UnavailableError) as reason:
        print(f"cannot run: {reason}")
        return 2
    with contextlib.closing(service):
        calm, calm_seconds = _timed(service, bodies, 1)
        with _spinning(SPINNERS_PER_CORE * (os.cpu_count() or 1)):
            busy, busy_seconds = _timed(service, bodies, options.in_flight)
    changed = differences(calm, busy)
    for line in changed:
        print(line)
    print(f"undisturbed {calm_seconds:.1f} s: {dict(Counter(answer[0] for answer in calm.values()))}")
    print(f"under load  {busy_seconds:.1f} s: {dict(Counter(answer[0] for answer in busy.values()))}")
    print(f"{len(bodies)} submissions, {len(changed)} verdicts changed")
    return int(bool(changed))


def submissions(paths: list[Path], limit: int) -> dict[str, Body]:
    """Return every Python solution of the files' problems, right and wrong, by a readable name."""
    found: dict[str, Body] = {}
    for path in paths:
        for problem in workloads.problems(path):
            for number, solution in enumerate(problem["solutions"]):
                if solution.get("language") == "python" and problem["tests"] and len(found) < limit:
                    found[f"{problem['id']}#{number}"] = workloads.from_problem(problem, solution["code"])
    return found


def differences(calm: dict[str, Answer], busy: dict[str, Answer]) -> list[str]:
    """Return a line for each submission with two different answers."""
    return [
        f"{name}: {' '.join((calm[name][0], *calm[name][1]))} became {' '.join((busy[name][0], *busy[name][1]))}"
        for name in calm
        if calm[name] != busy[name]
    ]


def _timed(service: Service, bodies: dict[str, Body], in_flight: int) -> tuple[dict[str, Answer], float]:
    start = time.monotonic()
    with ThreadPoolExecutor(in_flight) as pool:
        answers = dict(zip(bodies, pool.map(lambda body: _graded(service, body), bodies.values()), strict=True))
    return answers, time.monotonic() - start


def _graded(service: Service, body: Body) -> Answer:
    answer: dict[str, Any] = service.post("/v1/grade", body)
    return answer["verdict"], tuple(test["verdict"] for test in answer["tests"])


@contextlib.contextmanager
def _spinning(count: int) -> Iterator[None]:
    """Keep `count` processes spinning during the block."""
    spinners = [subprocess.Popen(SPIN, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks load", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help=f"default: {', '.join(FILES)} in PROCTOR_DATA")
    parser.add_argument("--url", help="a service that is running; else one is started")
    parser.add_argument("--in-flight", type=int, default=IN_FLIGHT)
    parser.add_argument("--limit", type=int, default=10**9, help="at most so many submissions")
    return parser.parse_args(arguments)
