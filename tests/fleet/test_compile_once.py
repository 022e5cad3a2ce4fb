"""One source that many clients submit at once is compiled once on each machine of a fleet."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fleet.fleet import Fleet, FleetWorker, ending, running_fleet_redis
from tests.languages.toolchains import need

CLIENTS = 16
HUNDREDS = 3  # of functions
LOOK_SECONDS = 0.4
COMPILER, SOURCE_NAME = "cc1", "main.c"  # the start of programs is compiled under another name


def ten(name: str, of: str) -> str:
    """A macro that calls another one ten times."""
    return f"#define {name}(n) " + " ".join(f"{of}(n##{digit})" for digit in range(10))


SOURCE = "\n".join(
    [
        "#include <stdio.h>",
        "#define F(n) int f##n(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * n ^ s >> 3; return s; }",
        *(ten("T", "F"), ten("H", "T")),
        *(f"H({digit})" for digit in range(1, HUNDREDS + 1)),
        'int main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }',
    ]
)
"""A program that adds two numbers, and takes a compiler a second or more, so that no compilation is overlooked."""


class Compilers:
    """Watches which compilers each worker starts."""

    def __init__(self, workers: list[FleetWorker]) -> None:
        self.seen: dict[int, set[tuple[int, float]]] = {worker.pid: set() for worker in workers}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Compilers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            for pid, found in self.seen.items():
                for process in psutil.Process(pid).children(recursive=True):
                    try:
                        if process.name() == COMPILER and any(SOURCE_NAME in word for word in process.cmdline()):
                            found.add((process.pid, process.create_time()))
                    except psutil.NoSuchProcess:
                        continue


@pytest.mark.parametrize("submissions", [64, pytest.param(1000, marks=pytest.mark.full)])
def test_a_source_is_compiled_once_on_each_machine(submissions: int, tmp_path: Path) -> None:
    need("c")
    with running_fleet_redis() as redis:
        fleet = Fleet(redis, apis=1, workers=2)
        for worker in fleet.workers:  # each stands for a machine, with a cache of its own
            worker._settings |= {"SANDBOX_SLOTS": "2", "SANDBOX_CACHE_FOLDER": str(tmp_path / str(worker.cpu))}
        with ending(fleet):
            fleet.start()
            with Compilers(fleet.workers) as compilers:
                verdicts = submitted(fleet, submissions)
            assert verdicts == {"AC": submissions}
            assert {worker.cpu: len(compilers.seen[worker.pid]) for worker in fleet.workers} == {
                worker.cpu: 1 for worker in fleet.workers
            }


def submitted(fleet: Fleet, submissions: int) -> Counter[str]:
    """The verdicts when all clients submit the same source, each for other numbers."""

    def grade(number: int) -> str:
        test = {"type": "stdin", "input": f"{number} 1\n", "output": f"{number + 1}\n"}
        body: dict[str, Any] = {"language": "c", "code": SOURCE, "tests": [test]}
        _, answer = fleet.apis[0].client.post("/v1/grade", body)
        return str(answer.get("verdict") or answer)

    with ThreadPoolExecutor(CLIENTS) as clients:
        return Counter(clients.map(grade, range(submissions)))
