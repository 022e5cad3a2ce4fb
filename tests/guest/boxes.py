"""Runs an assert test without a sandbox, for tests and measurements: two forked processes, two pipes, one report.

The two are forked by a server process, which is started once and stays small: a fork costs time in proportion to the
memory of the process, and pytest's has hundreds of megabytes.

Run as a script, it is this server, or prints the count of each result over a file of problems, for interpreters without
pytest.
"""

from __future__ import annotations

import atexit
import collections
import faulthandler
import functools
import gc
import json
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import time
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
SECONDS = 20  # of CPU time, for each of the two
LOOK_MILLISECONDS, LOOKS = 200, 8  # processes that neither run nor use the processor for so many looks wait for good


class Report(NamedTuple):
    """The tester's report and the exit of the two processes."""

    result: str
    message: str
    calls: int
    statuses: tuple[int, int]
    cpu_seconds: float


def judge(
    program: str, test: str, entry_point: str | None = None, prelude: str | None = None, *, seconds: int = SECONDS
) -> Report:
    """Run one assert test in the server. A tester that writes no report gives the result `""`.

    Returns:
        What the tester reported, and how the two processes ended.
    """
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    pickle.dump((program, test, entry_point, prelude, seconds), server.stdin)
    server.stdin.flush()
    return Report(*pickle.load(server.stdout))


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    """Start the server. It ends with this process."""
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def end() -> None:
        server.communicate()

    atexit.register(end)
    return server


def serve() -> None:
    """Run the assert tests that arrive at standard input, until there are no more."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    while True:
        try:
            program, test, entry_point, prelude, seconds = pickle.load(asked)
        except EOFError:
            return
        pickle.dump(tuple(judge_here(program, test, entry_point, prelude, seconds)), told)
        told.flush()


def judge_here(program: str, test: str, entry_point: str | None, prelude: str | None, seconds: int) -> Report:
    """Run one assert test in two forks of this process."""
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
    text = _read_all(report[0], children)
    ended = [os.wait4(child, 0) for child in reversed(children)][::-1]
    said: dict[str, Any] = json.loads(text) if text else {"result": "", "message": "no report", "calls": 0}
    cpu = sum(usage.ru_utime + usage.ru_stime for _, _, usage in ended)
    return Report(said["result"], said["message"], said["calls"], (ended[0][1], ended[1][1]), cpu)


def fork(body: Callable[[], int], keep: set[int], seconds: int) -> int:
    """Fork a child that runs `body` like a box; its exit status is the result of `body`."""
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
    """Set up this process like a box, as far as tests need it."""
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
    sys.argv = ["test.py"]
    sys.stdout, sys.stderr = (open(fd, "w", closefd=False) for fd in (1, 2))  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    faulthandler.disable()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(6_000)


def _read_all(report: int, children: list[int]) -> bytes:
    """Read the report until all have ended. Kill the children once all of them only wait, and for good."""
    exits = [os.pidfd_open(child) for child in children]
    poller, text, waits, before = select.poll(), b"", 0, [""]
    for fd in (report, *exits):
        poller.register(fd, select.POLLIN)
    is_open = {report, *exits}
    while is_open:
        events = poller.poll(LOOK_MILLISECONDS)
        for fd, _ in events:
            if fd == report and (more := os.read(fd, 1 << 16)):
                text += more
                continue
            poller.unregister(fd)
            is_open.discard(fd)
            os.close(fd)
        now = [] if events else [_activity(child) for child in children]
        waits = waits + 1 if now and now == before else 0
        before = now
        if waits == LOOKS:
            for child in children:
                os.kill(child, signal.SIGKILL)
    return text


def _activity(process: int) -> str:
    """Return the processor time that a process has used; while it could use more, a text that does not come again."""
    states = []
    for task in Path(f"/proc/{process}/task").glob("*/stat"):
        try:
            states.append(task.read_text().rpartition(")")[2].split())
        except OSError:  # the thread has ended
            return f"changing {time.monotonic()}"
    if any(fields[0] in "RD" for fields in states):
        return f"running {time.monotonic()}"
    return " ".join(f"{fields[11]}+{fields[12]}" for fields in states)


def helpers_of(prompt: str) -> str:
    """Return HumanEval's prelude: the prompt before its last top-level `def`, which is the function to write."""
    return prompt[: prompt.rfind("\ndef ") + 1]


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the problems of one file."""
    with (DATA / f"{name}.jsonl").open() as lines:
        yield from map(json.loads, lines)


def main(name: str) -> None:
    """Judge the first solution of every problem by each of its tests, without an entry point."""
    results: collections.Counter[str] = collections.Counter()
    for row in rows(name):
        for test in row["tests"]:
            report = judge_here(row["solutions"][0]["code"], test["assert"], None, None, SECONDS)
            results[report.result] += 1
            if report.result != "passed":
                print(row["id"], report, file=sys.stderr)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    if "plus" in sys.argv[1]:
        import numpy  # noqa: F401 (once, before the forks)
    tester.warm()
    gc.freeze()
    if sys.argv[1] == "--serve":
        serve()
    else:
        main(sys.argv[1])
