"""Measures the client: thousands of submissions in one call, to a fleet whose slots answer at once.

Grading is not measured, only the client's and the service's work. CPU time is per process, from the first submission to
the last grade; the client runs in another process (`getrusage`), so that the benchmark's own work does not count. In
every round the service is also killed midway and restarted: all submissions must be answered, with the same grades.

    python -m benchmarks client                       8,192 submissions in groups of 16, each group with its own tests
    python -m benchmarks client --real                the same, graded by the slots of this machine
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.contenders.base import UnavailableError
from benchmarks.fleet import PROMPT, fleet
from benchmarks.service import Service
from sandbox_service.client import Client

SUBMISSIONS, GROUP, TESTS, CODE_BYTES = 8192, 16, 10, 1500
ENDED_AT = 0.3  # of the submissions: when the service is killed
PATIENCE_SECONDS = 300.0


def main(arguments: list[str]) -> int:
    """Print the table, or act as the client process."""
    options = _options(arguments)
    if options.url:
        print(json.dumps(_call(options.url, options.count, options.salt)))
        return 0
    try:
        with _service(options) as service:
            _compare(service, options)
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks client", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=SUBMISSIONS, help="submissions in one call")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="graded by real slots, not answered at once")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--salt", default="", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


@contextlib.contextmanager
def _service(options: argparse.Namespace) -> Iterator[Service]:
    if not options.real:
        with fleet(PROMPT) as here:
            yield here.service
        return
    with contextlib.closing(Service()) as service:
        service.start()
        yield service


def _compare(service: Service, options: argparse.Namespace) -> None:
    print("| | submissions/s | client ms | client RSS MB | verdicts |")
    print("|---|---|---|---|---|")
    rounds: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for number in range(options.rounds):
        for is_killed, found in rounds.items():
            found.append(_round(service, options.count, f"{number}{is_killed}", is_killed))
    for is_killed, found in rounds.items():
        name = "killed and started again" if is_killed else "undisturbed"
        rate, cpu, memory = (statistics.median(each[key] for each in found) for key in ("rate", "cpu_ms", "rss_mb"))
        verdicts = sum((Counter(each["verdicts"]) for each in found), Counter[str]())
        print(f"| {name} | {rate:.0f} | {cpu:.3f} | {memory:.0f} | {dict(verdicts)} |")
        wanted = {"AC": options.count * options.rounds}
        if verdicts != wanted:
            raise SystemExit(f"{name}: {dict(verdicts)}, not {wanted}")


def _round(service: Service, count: int, salt: str, is_killed: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks", "client", "--url", service.url, "--count", str(count)]
    process = subprocess.Popen([*command, "--salt", salt], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stderr
    said = threading.Thread(target=_watch, args=(process.stderr, service if is_killed else None))
    said.start()
    answer = process.stdout.read()
    said.join()
    if process.wait():
        raise UnavailableError("the client failed: see above")
    found: dict[str, Any] = json.loads(answer)
    return found


def _watch(lines: Any, service: Service | None) -> None:
    """Kill the service when the client says so on stderr; print its other lines."""
    for line in lines:
        if line.strip() != "now":
            sys.stderr.write(line)
        elif service is not None:
            service.kill()
            service.start()


def _call(url: str, count: int, salt: str) -> dict[str, Any]:
    """Make one call, in the client's process."""
    submissions, due = _submissions(count, salt), int(ENDED_AT * count)

    def tell(done: int, _: int) -> None:
        if done == due:
            print("now", file=sys.stderr, flush=True)

    with Client(url, patience_seconds=PATIENCE_SECONDS) as client:
        client.ready()
        before, began = _cpu(), time.perf_counter()
        grades = client.grade_many(submissions, progress=tell)
        seconds, cpu = time.perf_counter() - began, _cpu() - before
    assert [grade.id for grade in grades] == [each["id"] for each in submissions]
    return {
        "rate": count / seconds,
        "cpu_ms": 1000 * cpu / count,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "verdicts": Counter(str(grade.verdict) for grade in grades),
    }


def _submissions(count: int, salt: str) -> list[dict[str, Any]]:
    """Groups that share ten tests, as in training; the programs are right, and all different."""
    made: list[dict[str, Any]] = []
    for number in range(count):
        if number % GROUP == 0:
            tests = [
                {"type": "stdin", "input": f"{each} {number}\n", "output": f"{each + number}\n"}
                for each in range(TESTS)
            ]
        code = f"print(sum(map(int, input().split())))\n# {salt} {number} ".ljust(CODE_BYTES, "x")
        made.append({"id": f"{salt}-{time.time_ns()}-{number}", "code": code, "tests": tests})
    return made


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
