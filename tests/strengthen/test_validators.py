"""Validators of inputs that a data set ships: they decide which inputs are made into tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import runs, validators
from sandbox_service.strengthen.records import Record
from sandbox_service.strengthen.tiers import Made
from tests.strengthen.test_work import RIGHT, problem, strengthened
from tests.strengthen.world import ExecutingJudge, Memory

ORDERED = "import sys\na, b = map(int, input().split())\nsys.exit(0 if 0 < a < b < 10**6 else 3)"
KATTIS = ORDERED.replace("0 if", "42 if").replace("else 3", "else 43")
EVEN = "a, b = map(int, input().split())\nassert a % 2 == b % 2 == 0"
PAIRS = ((2, 8), (4, 10), (6, 12), (10, 20))
WRAPS = {"code": "a, b = map(int, input().split())\nprint((a + b) % 2**15)", "verdicts": ["WA"], "name": "wraps"}


def ordered(*given: Any, **changes: Any) -> Problem:
    """A problem with one reference, whose inputs obey a rule that no fact of them shows to be one."""
    tests = [{"type": "stdin", "input": f"{a} {b}\n", "output": str(a + b)} for a, b in PAIRS]
    fields = {"tests": tests, "solutions": [{"code": RIGHT[0]}, WRAPS], "validators": list(given), **changes}
    return problem(**fields)


def sound(given: Problem) -> list[validators.Validator]:
    return asyncio.run(validators.sound_validators(runs.Runner(given, ExecutingJudge(), Memory())))


def numbers(record: Record) -> list[list[int]]:
    return [[int(each) for each in test["input"].split()] for test in record["added"]]


@pytest.mark.parametrize("given", [{"code": ORDERED}, {"code": KATTIS, "accepts": 42}])
def test_with_a_validator_one_reference_suffices_for_wide_inputs(given: dict[str, Any]) -> None:
    with_it = strengthened(ordered(given), ExecutingJudge(), inputs=96)
    found = numbers(with_it)
    assert found
    assert all(0 < a < b < 10**6 for a, b in found)
    assert max(b for _, b in found) >= 2**15
    assert with_it["strength"]["after"]["share"] == 1.0
    without = strengthened(ordered(), ExecutingJudge(), inputs=96)
    assert max(max(each) for each in numbers(without)) < 2**15


def test_all_validators_have_to_accept_an_input() -> None:
    record = strengthened(ordered({"code": ORDERED}, {"code": EVEN}), ExecutingJudge(), inputs=48)
    found = numbers(record)
    assert found
    assert all(a % 2 == b % 2 == 0 for a, b in found)


def test_validators_that_refuse_the_problem_s_own_inputs_are_not_believed() -> None:
    assert [each.accepts for each in sound(ordered({"code": ORDERED}))] == [0]
    assert sound(ordered({"code": ORDERED.replace("a < b", "b < a")})) == []
    assert sound(ordered({"code": ORDERED}, {"code": "raise ValueError"})) == []
    assert sound(ordered({"code": ORDERED}, {"code": "x", "language": "haskell"})) == []
    assert sound(ordered()) == []


def test_validators_get_the_files_and_headers_that_they_include() -> None:
    given = ordered({"code": '#include "mine.h"', "files": {"mine.h": '#include "testlib.h"'}})
    asked: list[dict[str, str]] = []

    def headers(files: dict[str, str]) -> dict[str, str]:
        asked.append(files)
        return {"testlib.h": "// the header"}

    class Recorder(ExecutingJudge):
        sent: Any = ()

        async def grade(self, shared: Any, submissions: Any) -> Any:
            self.sent = submissions
            return await super().grade(shared, submissions)

    judge = Recorder()
    asyncio.run(validators.sound_validators(runs.Runner(given, judge, Memory(), headers)))
    assert asked == [{"validator": '#include "mine.h"', "mine.h": '#include "testlib.h"'}]
    assert judge.sent[0]["files"] == {"mine.h": '#include "testlib.h"', "testlib.h": "// the header"}


def test_tiers_with_mostly_invalid_inputs_are_refused() -> None:
    made = [Made("1", "how", tier) for tier in ("good", "half", "half", "bad", "bad", "bad")]
    assert validators.refused_tiers(made, [*made[:2], made[3]]) == {"bad"}


def test_without_validators_every_input_is_accepted() -> None:
    runner, made = runs.Runner(ordered(), ExecutingJudge(), Memory()), [Made("1 2\n", "how"), Made("2 1\n", "how")]
    assert asyncio.run(validators.accepted(runner, [], made)) == made
    found = asyncio.run(validators.accepted(runner, sound(ordered({"code": ORDERED})), made))
    assert found == made[:1]
    assert isinstance((ordered().tests or [])[0], StdinTest)
