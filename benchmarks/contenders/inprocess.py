"""Grading without a sandbox: every test of a submission inside one forked process, with stdin and stdout patched.

This is how LiveCodeBench's harness works, and with it the many trainers that copied it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from types import FrameType, ModuleType
from typing import Any, ClassVar
from unittest import mock

from benchmarks.contenders.base import Contender
from benchmarks.programs import with_test
from benchmarks.workloads import Body

TEST_SECONDS = 6
STARRED = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("itertools", "functools", "operator", "io", "sys", "json", "builtins", "typing"),
)
IMPORTS = "".join(f"from {name} import *\n" for name in STARRED) + "".join(
    f"import {name}\n" for name in STARRED if name not in ("builtins", "typing")
)


class LiveCodeBench(Contender[Body]):
    """A multiprocessing process and a Manager per submission; all its tests inside that process.

    Reproduces: the Manager's server process and the list that carries the results, a forked process per submission,
    the star imports before every program, the program wrapped in a function, `sys.stdin`, its methods and `open`
    patched for each test, stdout caught in a `StringIO`, an alarm for each test, comparison by stripped lines and then
    by decimals, all of it in the very process that runs the submission.
    Leaves out, to its advantage: numpy and the rest that its parent process has imported (this driver forks faster),
    reading the tests from JSON text in the child, the pool of processes around it, and setting functions of `os` and
    `shutil` to None, which isolates nothing.
    LiveCodeBench has no test programs: for HumanEval the test is appended and run in the same process.
    """

    label: ClassVar[str] = "in-process, no sandbox (LiveCodeBench's way)"

    def start(self) -> None:
        exec(IMPORTS, {})

    def prepare(self, body: Body) -> Body:
        return body

    def grade(self, job: Body) -> bool:
        manager = multiprocessing.Manager()
        results = manager.list()
        process = multiprocessing.Process(target=_report, args=(job, results))
        process.start()
        process.join((TEST_SECONDS + 1) * len(job["tests"]) + 5)
        if process.is_alive():
            process.kill()
        return len(results) == 1 and len(results[0]) == len(job["tests"]) and all(results[0])


def _report(body: Body, results: Any) -> None:
    """In the forked process: grade, and send the result through the manager."""
    signal.signal(signal.SIGALRM, _too_late)
    results.append(_grade(body))


def _too_late(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _grade(body: Body) -> list[bool]:
    kind = body["tests"][0]["type"]
    one = {"stdin": _stdin_test, "call": _call_test, "assert": _assert_test}[kind](body)
    passed: list[bool] = []
    for test in body["tests"]:
        signal.alarm(TEST_SECONDS)
        try:
            passed.append(one(test))
        except Exception:  # noqa: BLE001 - whatever a submission raises
            passed.append(False)
        finally:
            signal.alarm(0)
        if not passed[-1]:
            break
    return passed


def _stdin_test(body: Body) -> Callable[[dict[str, Any]], bool]:
    main = _loaded(_wrapped(body["code"])).wrapped_function

    def passes(test: dict[str, Any]) -> bool:
        with _captured() as printed, _patched(test["input"]), contextlib.suppress(SystemExit):
            main()
        return _same_text(printed.getvalue(), test["output"])

    return passes


def _call_test(body: Body) -> Callable[[dict[str, Any]], bool]:
    function = getattr(_loaded(IMPORTS + body["code"]), body["tests"][0]["function"])

    def passes(test: dict[str, Any]) -> bool:
        answer = function(*test["args"])
        return bool((list(answer) if isinstance(answer, tuple) else answer) == test["output"])

    return passes


def _assert_test(body: Body) -> Callable[[dict[str, Any]], bool]:
    def passes(test: dict[str, Any]) -> bool:
        _loaded(IMPORTS + with_test(body["code"], test))
        return True

    return passes


def _loaded(source: str) -> Any:
    module = ModuleType("submission")
    exec(source, module.__dict__)
    return module


def _wrapped(code: str) -> str:
    """The program as a function, its imports before it: so it can be run for each test without a new process."""
    statements = ast.parse(code).body
    imports = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [node for node in statements if not isinstance(node, ast.Import | ast.ImportFrom)]
    function = ast.parse("def wrapped_function(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = others
    return "\n".join([IMPORTS, *map(ast.unparse, imports), ast.unparse(function)])


@contextlib.contextmanager
def _captured() -> Iterator[io.StringIO]:
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        yield sys.stdout
    finally:
        sys.stdout = before


@contextlib.contextmanager
def _patched(text: str) -> Iterator[None]:
    """A stdin that is a text buffer whose reading methods are replaced by functions, and `open` by a mock."""
    lines = iter(text.split("\n"))
    with contextlib.ExitStack() as patches:
        patches.enter_context(mock.patch("builtins.open", mock.mock_open(read_data=text)))
        patches.enter_context(mock.patch("sys.stdin", io.StringIO(text)))
        patches.enter_context(mock.patch("sys.stdin.readline", lambda *_: next(lines)))  # noqa: PT008
        patches.enter_context(mock.patch("sys.stdin.readlines", lambda *_: text.split("\n")))  # noqa: PT008
        patches.enter_context(mock.patch("sys.stdin.read", lambda *_: text))  # noqa: PT008
        yield


def _same_text(printed: str, expected: str) -> bool:
    ours, theirs = ([line.strip() for line in text.strip().split("\n")] for text in (printed, expected))
    return len(ours) == len(theirs) and all(map(_same_line, ours, theirs))


def _same_line(printed: str, expected: str) -> bool:
    if printed == expected:
        return True
    try:
        return list(map(Decimal, printed.split())) == list(map(Decimal, expected.split()))
    except InvalidOperation:
        return False
