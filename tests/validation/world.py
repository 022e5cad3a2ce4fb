"""Small problems written for these tests, and judges that need no jail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.problem import Problem
from sandbox_service.schema import Grade, TestResult, Verdict
from sandbox_service.validation.evidence import Evidence, Role, Run
from sandbox_service.validation.judge import Fields
from sandbox_service.validation.recipe import Recipe

ADD = "a, b = map(int, input().split())\nprint(a + b)"
SORT = "n = int(input())\nfor each in sorted(input() for _ in range(n)):\n    print(each)"
COUNT = "from collections import Counter\nfor each, n in Counter(input()).items():\n    print(each, n)"
STORY = (
    "A baker keeps a book in which every loaf that leaves the shop is written down by hand, together with the day and "
    "the name of the customer. Help her to read it. "
)


def sums(**changes: Any) -> Problem:
    """Two numbers in a line, their sum."""
    pairs = [(1, 2), (10, 20), (0, 0), (-5, 3), (100, 250), (7, -7)]
    tests = [{"type": "stdin", "input": f"{a} {b}\n", "output": f"{a + b}\n"} for a, b in pairs]
    asked = STORY + "Each input is one line with two whole numbers, the loaves of two days. Print their sum."
    return _problem("sums", asked, tests, ADD, **changes)


def words(**changes: Any) -> Problem:
    """Lines, in alphabetical order."""
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
    """How often each letter is there, in the order of their first use."""
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
    """One that takes what it is given."""
    return Recipe.model_validate({"name": "test", "output": str(folder), "sources": [{"path": "ours"}], **fields})


def run(role: Role, verdicts: Sequence[str], **fields: Any) -> Run:
    """A run with these verdicts, test by test, and with these outputs."""
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
    """Of these runs."""
    return Evidence(runs, **fields)


SOLVED_BY = {ADD: r"-?\d+ -?\d+\s*", SORT: r"\d+\n[a-z\n]+", COUNT: r"[a-z]+"}


class FakeJudge:
    """Knows which of our solutions solves what; `say` gives another verdict for a program. Counts what it is asked."""

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
    """By the form of the last input; the same with another hash seed."""
    last = shared["tests"][-1].get("input", "")
    solved = [program for program, form in SOLVED_BY.items() if re.fullmatch(form, last)]
    is_ours = any(code.startswith(program) for program in solved) or "PYTHONHASHSEED" in code
    return "AC" if is_ours else "WA"
