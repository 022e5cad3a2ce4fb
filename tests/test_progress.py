"""A submission that is put aside after each test has the grade that it has when it is graded at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.grading.ordered_tests import Progress
from sandbox_service.grading.work import GradingCancelledError
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings
from tests.conftest import need_firejail

Json = dict[str, Any]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    need_firejail()
    with bootstrap.grader(Settings()) as made:
        yield made


APART = {"isolation": "test"}  # stdin tests that share a box are not put aside in between


def stdin(number: int, output: int | None = None) -> Json:
    return {"type": "stdin", "input": f"{number}\n", "output": f"{number if output is None else output}\n"}


def call(number: int, output: int | None = None) -> Json:
    return {"type": "call", "function": "f", "args": [number], "output": number if output is None else output}


def check(number: int) -> Json:
    return {"type": "assert", "entry_point": "f", "code": f"def check(f):\n    assert f({number}) == {number}\n"}


ECHO = "def f(x):\n    return x\nif __name__ == '__main__':\n    print(input())\n"
FAILS_AT_TWO = "def f(x):\n    if x == 2:\n        raise ValueError(x)\n    return x\n"
SUBMISSIONS: dict[str, Json] = {
    "stdin": APART | {"code": ECHO, "tests": [stdin(n) for n in range(4)]},
    "stdin, the third is wrong": APART | {"code": ECHO, "tests": [stdin(0), stdin(1), stdin(2, 3), stdin(3)]},
    "all of them": APART | {"code": ECHO, "tests": [stdin(0, 1), stdin(1), stdin(2, 3)], "stop_on_failure": False},
    "calls": {"code": ECHO, "tests": [call(n) for n in range(4)]},
    "calls, one fails": {"code": FAILS_AT_TWO, "tests": [call(n) for n in range(5)], "stop_on_failure": False},
    "calls, the first is wrong": {"code": ECHO, "tests": [call(0, 1), call(1), call(2)], "stop_on_failure": False},
    "asserts": {"code": FAILS_AT_TWO, "tests": [check(n) for n in range(3, 6)]},
    "a mixture": {
        "code": FAILS_AT_TWO,
        "tests": [call(1), call(2), call(3), check(1), call(1), call(2), check(2), call(4)],
        "stop_on_failure": False,
    },
    "no program": {"code": "def", "tests": [stdin(0), stdin(1)]},
    "no code": {"completion": "I do not know.", "tests": [stdin(0)]},
    "stdin, together": {"code": ECHO, "tests": [stdin(n) for n in range(4)]},
    "a sample": {"code": ECHO, "tests": [stdin(n) for n in range(9)], "sample": {"count": 4, "seed": 3}},
    "a bad test": {
        "code": ECHO,
        "tests": [check(1), {"type": "assert", "entry_point": "f", "code": "def check(f:"}, check(2)],
        "stop_on_failure": False,
    },
}
# of an assert test the candidate may end by itself, or be ended, so not even that is always the same
MEASURED = {"cpu_seconds", "wall_seconds", "peak_memory_bytes", "exit_code", "signal", "stderr"}


def told(grade: Grade) -> Json:
    """What depends neither on the clock nor on pauses, each of which ends a shared box."""
    return grade.model_dump(exclude={"timing": True, "shared": True, "tests": {"__all__": MEASURED}})


def in_turns(grader: Grader, submission: Submission) -> tuple[Grade, int]:
    """Its grade, and how often it was put aside: after every test, as JSON."""
    progress, turns = Progress(), 0
    while True:
        found = grader.go_on(submission, progress, lambda: False, lambda: True)
        if isinstance(found, Grade):
            return found, turns
        progress = Progress.model_validate_json(found.model_dump_json(exclude_defaults=True))
        turns += 1


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_grade_does_not_depend_on_how_often_it_was_put_aside(grader: Grader, name: str) -> None:
    submission = Submission.model_validate(SUBMISSIONS[name])
    at_once = grader.grade(submission)
    grade, turns = in_turns(grader, submission)
    assert told(grade) == told(at_once)
    assert turns < max(1, len(submission.tests or ()) + 3)
    if name in ("stdin", "asserts"):
        assert turns == len(submission.tests or ()) - 1


def test_its_time_is_that_of_all_its_turns(grader: Grader) -> None:
    burn = "import time\nwhile time.process_time() < 0.1: pass\nprint(input())"
    grade, turns = in_turns(grader, Submission.model_validate({"code": burn, "tests": [stdin(n) for n in range(3)]}))
    assert turns == 2
    assert grade.timing.graded_seconds >= 0.25


def test_one_that_goes_on_can_be_cancelled(grader: Grader) -> None:
    submission = Submission.model_validate(SUBMISSIONS["stdin"])
    progress = grader.go_on(submission, Progress(), lambda: False, lambda: True)
    assert isinstance(progress, Progress)
    assert [result.index for result in progress.tests] == [0]
    with pytest.raises(GradingCancelledError):
        grader.go_on(submission, progress, lambda: True, lambda: False)
