"""Programs that may have processes of their own: they work, they are bounded, and nothing of them remains."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.sandbox import cgroups
from tests.conftest import Service

POOL = """
import multiprocessing
def square(n):
    return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(square, range(int(input())))))
"""
SHELL = "import subprocess\nprint(subprocess.run(['echo', 'from a shell'], capture_output=True, text=True).stdout)"
SPREAD = """
import os
ready, say = os.pipe()
go, hold = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.close(hold)
        hoard = bytearray(150 << 20)
        os.close(say)
        os.read(go, 1)
        os._exit(0)
os.close(say)
os.read(ready, 1)  # to its end: until each has its own, or has ended
os.close(hold)
for _ in range(4):
    _, status = os.wait()
    if status:
        raise MemoryError
print("done")
"""
BOMB = "import os\ntry:\n    while True:\n        os.fork()\nexcept OSError:\n    pass\nwhile True: pass"


def grade(service: Service, code: str, output: str, given: str = "", **limits: Any) -> dict[str, Any]:
    test = {"type": "stdin", "input": given, "output": output}
    return service.grade(code=code, tests=[test], limits={"processes": 4, "cpu_seconds": 2} | limits)


def test_multiprocessing_works(service: Service) -> None:
    assert grade(service, POOL, "285", "10\n")["verdict"] == "AC"


def test_subprocesses_work(service: Service) -> None:
    assert grade(service, SHELL, "from a shell")["verdict"] == "AC"


def test_by_default_there_are_none(service: Service) -> None:
    assert grade(service, SHELL, "from a shell", processes=1)["verdict"] == "RTE"


def test_a_fork_bomb_is_contained(service: Service) -> None:
    grade_of_bomb = grade(service, BOMB, "x", cpu_seconds=1, wall_seconds=3)
    assert grade_of_bomb["verdict"] in ("TLE", "RTE")
    assert grade(service, POOL, "285", "10\n")["verdict"] == "AC"


def test_memory_is_bounded_over_all_processes(service: Service) -> None:
    group = cgroups.create("proctor-test")
    if group is None:
        pytest.skip("no writable cgroup with memory and pids here")
    group.remove()
    assert grade(service, SPREAD, "done", memory_bytes=256 << 20, wall_seconds=10)["verdict"] in ("MLE", "RTE")
    assert grade(service, SPREAD, "done", memory_bytes=1 << 30, wall_seconds=10)["verdict"] == "AC"
