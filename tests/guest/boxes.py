"""Two forked processes, two pipes, one report: a pair without its sandbox, for tests and measurements.

Run as a script, it prints how many problems of a file in the data folder ended how: for interpreters without pytest.
"""

from __future__ import annotations

import collections
import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

GUEST = Path(__file__).parents[2] / "sandbox_service" / "guest"
DATA = Path(__file__).parents[3] / "shared" / "data"
if str(GUEST) not in sys.path:
    sys.path.insert(0, str(GUEST))

import candidate  # noqa: E402
import tester  # noqa: E402

MEMORY_BYTES = 2 << 30


class Report(NamedTuple):
    """The tester's report, and what became of the two processes."""

    result: str
    message: str
    calls: int
    statuses: tuple[int, int]
    cpu_seconds: float


def judge(
    program: str, test: str, entry_point: str | None = None, prelude: str | None = None, *, seconds: int = 20
) -> Report:
    """Run one pair. A tester that ends without a report gives result `""`."""
    down, up, report = os.pipe(), os.pipe(), os.pipe()
    with warnings.catch_warnings(action="ignore"):
        code = compile(program, "solution.py", "exec", dont_inherit=True)

    def run_candidate() -> int:
        return candidate.serve(down[0], up[1], code, prelude)

    def run_tester() -> int:
        return tester.run(up[0], down[1], report[1], test, prelude, entry_point)

    children = [
        fork(run_candidate, {down[0], up[1]}, seconds),
        fork(run_tester, {up[0], down[1], report[1]}, seconds),
    ]
    for fd in (*down, *up, report[1]):
        os.close(fd)
    text = _read_all(report[0])
    ended = [os.wait4(child, 0) for child in reversed(children)][::-1]
    said: dict[str, Any] = json.loads(text) if text else {"result": "", "message": "no report", "calls": 0}
    cpu = sum(usage.ru_utime + usage.ru_stime for _, _, usage in ended)
    return Report(said["result"], said["message"], said["calls"], (ended[0][1], ended[1][1]), cpu)


def fork(body: Callable[[], int], keep: set[int], seconds: int) -> int:
    """A child that runs `body` in clean surroundings; its exit status is what that returns."""
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        be_a_box(keep, seconds)
        status = body()
    finally:
        os._exit(status)


def be_a_box(keep: set[int], seconds: int) -> None:
    """What the sandbox does for a box, as far as tests need it."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    last = 2
    for fd in [*sorted(keep), 4096]:
        os.closerange(last + 1, fd)
        last = fd
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    faulthandler.disable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 1.5 * seconds)
    sys.setrecursionlimit(6_000)


def _read_all(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        return file.read()


def helpers_of(prompt: str) -> str:
    """HumanEval's prelude: what its prompt says before the last top-level `def`, which is the function to write."""
    return prompt[: prompt.rfind("\ndef ") + 1]


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The problems of one file."""
    with (DATA / f"{name}.jsonl").open() as lines:
        yield from map(json.loads, lines)


def main(name: str) -> None:
    """Judge the first solution of every problem by each of its tests, without an entry point."""
    gc.freeze()
    results: collections.Counter[str] = collections.Counter()
    for row in rows(name):
        for test in row["tests"]:
            report = judge(row["solutions"][0]["code"], test["assert"])
            results[report.result] += 1
            if report.result != "passed":
                print(row["id"], report, file=sys.stderr)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    if "plus" in sys.argv[1]:
        import numpy  # noqa: F401 (once, before the forks)
    tester.warm()
    main(sys.argv[1])
