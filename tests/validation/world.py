"""Small problems for the tests of the validation, and judges without a jail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade, TestResult, Verdict
from sandbox_service.validation.evidence import Evidence, Role, Run
from sandbox_service.validation.judge import Fields
from sandbox_service.validation.recipe import Recipe
from tests.guards import HANG_GUARD_SECONDS

ADD = "a, b = map(int, input().split())\nprint(a + b)"
SORT = "n = int(input())\nfor each in sorted(input() for _ in range(n)):\n    print(each)"
COUNT = "from collections import Counter\nfor each, n in Counter(input()).items():\n    print(each, n)"
STORY = (
    "A baker keeps a book in which every loaf that leaves the shop is written down by hand, together with the day and "
    "the name of the customer. Help her to read it. "
)


def sums(**changes: Any) -> Problem:
    """Print the sum of two numbers in a line."""
    pairs = [(1, 2), (10, 20), (0, 0), (-5, 3), (100, 250), (7, -7)]
    tests = [{"type": "stdin", "input": f"{a} {b}\n", "output": f"{a + b}\n"} for a, b in pairs]
    asked = STORY + "Each input is one line with two whole numbers, the loaves of two days. Print their sum."
    return _problem("sums", asked, tests, ADD, **changes)


def words(**changes: Any) -> Problem:
    """Print lines in alphabetical order."""
    lists = ["cab", "ba", "xyzw", "kljm", "fed"]
    tests = [
        {"type": "stdin", "input": f"{len(each)}\n" + "\n".join(each), "output": "\n".join(sorted(each))}
        for each in lists
    ]
    asked = (
        "The customers' names have to be put in alphabetical order for the feast of the village, each in a line of its "
        "own. The first line of the input has their number, the following ones have a name each."
    )
    return _problem("words", asked, tests, SORT, **changes)


def letters(**changes: Any) -> Problem:
    """Count each letter, in the order of first use."""
    texts = ["aab", "xyx", "q", "hello", "zzzz"]
    tests = [
        {"type": "stdin", "input": each, "output": "".join(f"{sign} {n}\n" for sign, n in Counter(each).items())}
        for each in texts
    ]
    asked = (
        "A sign painter charges by the letter. Given a word, say for every different letter, by its first place in the "
        "word, how many of it he has to paint: a line with the letter, a blank and the number."
    )
    return _problem("letters", asked, tests, COUNT, **changes)


def _problem(name: str, asked: str, ours: list[dict[str, Any]], code: str, **changes: Any) -> Problem:
    known: dict[str, Any] = {"id": name, "prompt": asked, "tests": ours, "solutions": [{"code": code}]}
    return Problem.model_validate({"source": "ours", "licence": "Apache-2.0", **known, **changes})


def recipe(folder: Path | str = "nowhere", **fields: Any) -> Recipe:
    """A recipe without filters."""
    return Recipe.model_validate({"name": "test", "output": str(folder), "sources": [{"path": "ours"}], **fields})


def run(role: Role, verdicts: Sequence[str], **fields: Any) -> Run:
    """A run with these verdicts and outputs, test by test."""
    outputs = fields.pop("outputs", [""] * len(verdicts))
    seconds = fields.pop("seconds", 0.01)
    tests = [
        TestResult(
            index=place, verdict=Verdict(verdict), stdout="".join(outputs[place : place + 1]), cpu_seconds=seconds
        )
        for place, verdict in enumerate(verdicts)
    ]
    whole = next((each for each in verdicts if each != "AC"), "AC")
    grade = Grade(
        id="",
        verdict=Verdict(whole),
        reward=None if whole == "IE" else float(whole == "AC"),
        tests=tests,
        total=len(tests),
        failure_kind=fields.pop("kind", None),
        failure_reason="a fault" if whole == "IE" else None,
    )
    return Run(role, fields.pop("name", role), grade, **fields)


def evidence(*runs: Run, **fields: Any) -> Evidence:
    """Evidence of these runs."""
    return Evidence(runs, **fields)


SOLVED_BY = {ADD: r"-?\d+ -?\d+\s*", SORT: r"\d+\n[a-z\n]+", COUNT: r"[a-z]+"}


class FakeJudge:
    """Passes the solutions of this module; `say` overrides verdicts. Counts submissions."""

    def __init__(self, say: Callable[[str], str] | None = None) -> None:
        self.say = say
        self.asked: Counter[str] = Counter()

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        return [self._grade(shared, each["code"]) for each in submissions]

    def _grade(self, shared: Fields, code: str) -> Grade:
        self.asked[code] += 1
        verdict = self.say(code) if self.say else _deserved(shared, code)
        return run("reference", [verdict] * len(shared["tests"])).grade


def _deserved(shared: Fields, code: str) -> str:
    """The verdict by the form of the last input; the same under another hash seed."""
    last = shared["tests"][-1].get("input", "")
    solved = [program for program, form in SOLVED_BY.items() if re.fullmatch(form, last)]
    is_ours = any(code.startswith(program) for program in solved) or "PYTHONHASHSEED" in code
    return "AC" if is_ours else "WA"


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with default settings, without messages of slots."""
    for name in [name for name in os.environ if name.startswith(("SANDBOX_", "PROCTOR_API", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SANDBOX_LOG_LEVEL", "warning")
    monkeypatch.chdir(folder)


def kill_after(command: list[str], journal: Path, *, lines: int) -> None:
    """Start a command and kill it as soon as its journal has so many lines."""
    assert stop_after(command, journal, signal.SIGKILL, lines=lines)[0] == -signal.SIGKILL


def stop_after(command: list[str], journal: Path, sent: signal.Signals, *, lines: int) -> tuple[int, str]:
    """Start a command, send it a signal as soon as its journal has so many lines, return its status and its stderr."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + HANG_GUARD_SECONDS
            while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
                assert time.monotonic() < end
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(sent)
            _, said = process.communicate(timeout=HANG_GUARD_SECONDS)
        finally:
            process.kill()
    return process.returncode, said
