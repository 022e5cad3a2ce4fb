"""The stacks that contest programs ask for, and the recursion that functions get, under small memory limits."""

from __future__ import annotations

import pytest

from tests.conftest import Service

MIB = 1 << 20
LIMITS = {"cpu_seconds": 4, "memory_bytes": 256 * MIB}
DEEP = "def deep(n):\n    return 0 if n == 0 else 1 + deep(n - 1)\n"
THREADS = """
import sys, threading
threading.stack_size({size})
sys.setrecursionlimit(10**6)
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
threads = [threading.Thread(target=lambda: print(deep(5000))) for _ in range({count})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
TREE = """
def f(n):
    node = None
    for _ in range(n):
        node = (node,)
    def depth(node):
        return 0 if node is None else 1 + depth(node[0])
    return depth(node)
"""
CACHED = "@cache\ndef f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n"


@pytest.mark.parametrize(
    ("size", "count"),
    [("512 << 20", 1), ("1 << 29", 2), ("128 * 1024 * 1024", 4), ("0x2000000", 8), ("67108864", 8)],
)
@pytest.mark.parametrize("memory", [64 * MIB, 256 * MIB, 1024 * MIB])
def test_threads_have_the_stacks_that_they_ask_for(service: Service, size: str, count: int, memory: int) -> None:
    code = THREADS.format(size=size, count=count)
    test = {"type": "stdin", "input": "", "output": "5000\n" * count}
    grade = service.grade(code=code, tests=[test], limits={"cpu_seconds": 4, "memory_bytes": memory})
    assert grade["verdict"] == "AC", grade


@pytest.mark.parametrize(
    ("code", "argument"),
    [(DEEP.replace("deep", "f"), 3_000), (DEEP.replace("deep", "f"), 100_000), (TREE, 100_000), (CACHED, 100_000)],
)
def test_called_functions_recurse_deeply(service: Service, code: str, argument: int) -> None:
    call = {"type": "call", "function": "f", "args": [argument], "output": argument}
    check = {"type": "assert", "code": f"assert f({argument}) == {argument}"}
    assert service.grade(code=code, tests=[call, call], limits=LIMITS)["verdict"] == "AC"
    code = f"from functools import cache\n{code}"
    assert service.grade(code=code, tests=[check], limits=LIMITS)["verdict"] == "AC"


@pytest.mark.parametrize("kind", ["stdin", "call", "assert"])
def test_endless_recursion_is_an_error(service: Service, kind: str) -> None:
    code = "def f(n):\n    return f(n + 1) + 1\n" + ("f(0)\n" if kind == "stdin" else "")
    test = {
        "stdin": {"type": "stdin", "output": ""},
        "call": {"type": "call", "function": "f", "args": [0], "output": 0},
        "assert": {"type": "assert", "code": "assert f(0) == 0"},
    }[kind]
    assert service.grade(code=code, tests=[test], limits=LIMITS)["verdict"] == "RTE"


def test_memory_is_limited_all_the_same(service: Service) -> None:
    code = "import threading\nthreading.stack_size(512 << 20)\nheld = bytearray(600 << 20)\nprint(len(held))"
    test = {"type": "stdin", "output": str(600 * MIB)}
    assert service.grade(code=code, tests=[test], limits=LIMITS)["verdict"] == "MLE"
