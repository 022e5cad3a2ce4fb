"""Programs that do not end cost their limit once, also where tests share a box."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings
from tests.conftest import ISOLATION, need_firejail

LIMIT = 0.6
PASSED_IN_A_SHARED_BOX = 1.3  # times the limit: what was stopped, and the run alone
CALLS = [{"type": "call", "function": "f", "args": [n], "output": n} for n in range(5)]
STDIN = [{"type": "stdin", "input": f"{n}\n", "output": f"{n}\n"} for n in range(5)]
SPIN = "while True: pass"


@dataclass
class Boxes:
    """The boxes that were run: their CPU seconds, as the kernel counted them."""

    cpu_seconds: list[float] = field(default_factory=list)

    def note(self, outcome: Outcome) -> Outcome:
        self.cpu_seconds.append(outcome.cpu_seconds)
        return outcome


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    need_firejail()
    with bootstrap.grader(Settings(isolation=ISOLATION)) as found:
        yield found


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> Boxes:
    """Every box whose end the host hears of, whichever way it was started."""
    found = Boxes()
    for module, name in (("jail", "outcome_with"), ("python_jail", "outcome_of")):
        target = f"sandbox_service.sandbox.{module}.{name}"
        monkeypatch.setattr(target, noted(found, __import__(target.rpartition(".")[0], fromlist=[name]), name))
    return found


def noted(boxes: Boxes, module: Any, name: str) -> Callable[..., Outcome]:
    real = getattr(module, name)
    return lambda *given: boxes.note(real(*given))


def grade(grader: Grader, code: str, tests: list[dict[str, Any]], **fields: Any) -> Grade:
    limits = {"cpu_seconds": LIMIT, "wall_seconds": 60.0}
    body = {"id": "x", "code": code, "tests": tests, "limits": limits} | fields
    return grader.grade(Submission.model_validate(body))


def spins_at(number: int) -> str:
    return f"def f(n):\n    if n == {number}:\n        {SPIN}\n    return n\n"


def test_a_first_call_that_does_not_end_is_run_once(grader: Grader, boxes: Boxes) -> None:
    found = grade(grader, spins_at(0), CALLS)
    assert [test.verdict for test in found.tests] == ["TLE"]
    assert len(boxes.cpu_seconds) == 1


def test_a_later_call_that_does_not_end_costs_its_limit_and_little_more(grader: Grader, boxes: Boxes) -> None:
    found = grade(grader, spins_at(3), CALLS)
    assert [test.verdict for test in found.tests] == ["AC", "AC", "AC", "TLE"]
    assert len(boxes.cpu_seconds) == 2
    assert sum(boxes.cpu_seconds) < PASSED_IN_A_SHARED_BOX * LIMIT


def test_the_limit_follows_the_references(grader: Grader, boxes: Boxes) -> None:
    reference = {"cpu_seconds": 0.02, "factor": 5.0, "least_seconds": 0.1}
    found = grade(grader, SPIN, STDIN, limits={"cpu_seconds": 60.0, "reference": reference})
    assert (found.verdict, str(found.message).partition("limit is ")[2]) == ("TLE", "0.1 s")
    assert len(boxes.cpu_seconds) == 1


def test_all_other_calls_are_made(grader: Grader) -> None:
    for number in (0, 2):
        found = grade(grader, spins_at(number), CALLS, stop_on_failure=False)
        assert [test.verdict for test in found.tests] == ["TLE" if n == number else "AC" for n in range(5)]


def test_a_call_that_is_only_slow_passes(grader: Grader) -> None:
    work = "from time import process_time as t\ndef f(n):\n    end = t() + (n == 2) * 0.3\n    while t() < end: pass\n"
    assert grade(grader, work + "    return n\n", CALLS).verdict == "AC"


def test_an_endless_end_after_the_last_call_changes_nothing(grader: Grader) -> None:
    code = f"import atexit\ndef f(n):\n    return n\ndef spin():\n    {SPIN}\natexit.register(spin)\n"
    assert grade(grader, code, CALLS[:2]).verdict == "AC"


def test_a_first_wrong_result_is_not_repeated(grader: Grader, boxes: Boxes) -> None:
    found = grade(grader, "def f(n):\n    return n + 1\n", CALLS)
    assert (found.verdict, len(found.tests), len(boxes.cpu_seconds)) == ("WA", 1, 1)


def test_a_result_that_earlier_calls_spoil_is_repeated(grader: Grader) -> None:
    code = f"seen = []\ndef f(n):\n    seen.append(n)\n    if len(seen) > 2:\n        {SPIN}\n    return n\n"
    assert grade(grader, code, CALLS).verdict == "AC"


def test_a_stdin_test_that_does_not_end_costs_its_limit_and_little_more(grader: Grader, boxes: Boxes) -> None:
    for number, runs in ((0, 1), (3, 2)):
        boxes.cpu_seconds.clear()
        code = f"n = int(input())\nif n == {number}:\n    {SPIN}\nprint(n)\n"
        found = grade(grader, code, STDIN, isolation="submission")
        assert [test.verdict for test in found.tests] == ["AC"] * number + ["TLE"]
        assert len(boxes.cpu_seconds) == runs
        assert sum(boxes.cpu_seconds) < PASSED_IN_A_SHARED_BOX * LIMIT
