"""A judge without a jail for tests of the strengthening: runs trusted programs that end, in this process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sandbox_service.schema import Grade, TestResult, Verdict
from sandbox_service.validation.judge import Fields


class ExecutingJudge:
    """Runs programs that read stdin, and compares tokens. `faulty` ones get no verdict; each run takes `seconds`."""

    def __init__(self, faulty: str = "", seconds: float = 0.001) -> None:
        self.asked = 0
        self.faulty, self._seconds = faulty, seconds

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        self.asked += len(submissions)
        return [self._grade(shared, each["code"]) for each in submissions]

    def _grade(self, shared: Mapping[str, Any], code: str) -> Grade:
        if self.faulty and self.faulty in code:
            return Grade.fault("", 1, "sandbox", "no sandbox")
        results: list[TestResult] = []
        for index, test in enumerate(shared["tests"]):
            verdict, output, status = _run(code, test, shared.get("checker") or {})
            results.append(
                TestResult(index=index, verdict=verdict, stdout=output, exit_code=status, cpu_seconds=self._seconds)
            )
            if verdict != Verdict.AC and shared["stop_on_failure"]:
                break
        failed = next((each.verdict for each in results if each.verdict != Verdict.AC), Verdict.AC)
        return Grade(id="", verdict=failed, reward=float(failed == Verdict.AC), tests=results)


def _other_interpreter(_: str, arguments: Sequence[str]) -> None:
    """Runs a program under another hash seed here, where the seed makes no difference."""
    exec(arguments[-1], {"__name__": "__main__"})


def _run(code: str, test: Mapping[str, Any], checker: Mapping[str, Any]) -> tuple[Verdict, str, int]:
    printed, stdin = io.StringIO(), io.StringIO(test["input"])
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(os, "execv", _other_interpreter)
        patch.setenv("PYTHONHASHSEED", "0")
        try:
            exec(code, {"__name__": "__main__"})
        except SystemExit as end:
            if end.code:
                return Verdict.RTE, "", int(end.code)
        except Exception:  # noqa: BLE001
            return Verdict.RTE, "", 1
    is_right = _is_right(checker, test, printed.getvalue())
    return (Verdict.AC if is_right else Verdict.WA), printed.getvalue(), 0


def _is_right(checker: Mapping[str, Any], test: Mapping[str, Any], output: str) -> bool:
    """By tokens, or by a checker program of the protocol `function`."""
    if checker.get("type") != "program":
        return bool(output.split() == test["output"].split())
    names: dict[str, Any] = {}
    exec(checker["source"], names)
    return bool(names["check"](test["input"], output, test["output"]))


class Memory(dict[str, dict[str, Any]]):
    """Records in memory."""

    def put(self, key: str, record: dict[str, Any]) -> None:
        self[key] = record
