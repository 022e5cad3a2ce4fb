"""The lower limit: the least that a fresh process per test can cost in Python, to which others are compared."""

from __future__ import annotations

import json
import marshal
import os
import struct
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.contenders.base import Contender
from benchmarks.contenders.processes import INTERPRETER
from benchmarks.programs import with_test
from benchmarks.workloads import Body

ZYGOTE = Path(__file__).with_name("fork_zygote.py")
LENGTH = struct.Struct("<I")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "LD_BIND_NOW": "1"}


class ForkLimit(Contender[Body]):
    """A warm interpreter that forks for every test, runs the program in the child, and waits. No isolation whatsoever.

    Does: the common modules imported beforehand and frozen out of the garbage collector's sight, each program compiled
    once, stdin and stdout as memfds on descriptors 0 and 1, a real `__main__` namespace, output and exit status read by
    the parent, answers compared in the driver. Calls: one fork for a submission, all calls inside, values as JSON.
    HumanEval: one fork for a problem, the test appended. Leaves out: namespaces, users, limits, filters, time-outs,
    and any defence of the forking process itself. Nobody should run submissions like this.
    """

    label: ClassVar[str] = "fork only, no isolation (the limit)"

    def start(self) -> None:
        ours, theirs = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [INTERPRETER, "-I", "-S", str(ZYGOTE), str(theirs[0]), str(ours[1])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs[0], ours[1]),
            env=ENVIRONMENT,
        )
        os.close(theirs[0])
        os.close(ours[1])
        self._answers, self._requests = os.fdopen(ours[0], "rb"), os.fdopen(theirs[1], "wb")

    def close(self) -> None:
        self._requests.close()
        self._process.wait()
        self._answers.close()

    def prepare(self, body: Body) -> Body:
        return body

    def grade(self, job: Body) -> bool:
        tests = job["tests"]
        if tests[0]["type"] == "stdin":
            runs = self._ask(("runs", job["code"], [test["input"].encode() for test in tests]))
            return all(map(_printed, runs, tests))
        if tests[0]["type"] == "call":
            calls = [(test["function"], test["args"], test.get("kwargs", {})) for test in tests]
            status, values = self._ask(("calls", job["code"], calls))[0]
            return bool(status == 0 and json.loads(values) == [test["output"] for test in tests])
        return all(self._ask(("runs", with_test(job["code"], test), [b""]))[0][0] == 0 for test in tests)

    def _ask(self, request: tuple[str, str, list[Any]]) -> list[tuple[int, bytes]]:
        data = marshal.dumps(request)
        self._requests.write(LENGTH.pack(len(data)) + data)
        self._requests.flush()
        (length,) = LENGTH.unpack(self._answers.read(LENGTH.size))
        answer: list[tuple[int, bytes]] = marshal.loads(self._answers.read(length))
        return answer


def _printed(run: tuple[int, bytes], test: dict[str, Any]) -> bool:
    status, stdout = run
    return status == 0 and stdout.split() == test["output"].encode().split()
