"""Scouts: mutants that are not counted, but say which inputs tell subtle mistakes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sandbox_service.schema import Grade, StdinTest, TestResult, Verdict
from sandbox_service.strengthen import answers, choice, scouts, wrong_programs
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.strength import Share
from sandbox_service.strengthen.tiers import Made
from sandbox_service.validation.judge import Fields
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.world import ExecutingJudge, Memory
from tests.validation.world import sums

CODE = """a, b = map(int, input().split())
if a < b and a > 3 or b == 7:
    print(a + b)
else:
    print(b + a)
"""
TEXTS = [f"{n} 0\n" for n in range(40)]
CANDIDATES = [
    answers.Candidate(StdinTest(input=text, output=text[:-2]), Made(text, "seen"), text[:-2]) for text in TEXTS
]


class SlowOn(ExecutingJudge):
    """Lets programs run out of time on some inputs."""

    def __init__(self, inputs: Sequence[str]) -> None:
        super().__init__()
        self._inputs = inputs

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        texts = [each["input"] for each in shared["tests"]]
        grades = await super().grade(shared, submissions)
        return [each.model_copy(update={"tests": [self._of(texts, test) for test in each.tests]}) for each in grades]

    def _of(self, texts: Sequence[str], test: TestResult) -> TestResult:
        is_slow = texts[test.index] in self._inputs
        return test.model_copy(update={"verdict": Verdict.TLE}) if is_slow else test


def failures(code: str, judge: ExecutingJudge, candidates: Sequence[answers.Candidate] = CANDIDATES) -> list[set[int]]:
    found = scouts.failures(Runner(sums(), judge, Memory()), [Program("scout", "s", code)], candidates)
    return [set(each) for each in asyncio.run(found)]


def program(condition: str) -> str:
    return f"a, b = map(int, input().split())\nprint(0 if {condition} else a + b)"


def test_scouts_are_no_counted_mutants_and_are_in_python() -> None:
    reference = Program("reference", "r", CODE)
    counted = {each.code for each in wrong_programs.mutants_of(sums(), [reference], 6)}
    found = wrong_programs.scouts_of(sums(), [reference], 6)
    assert len(counted) == 6
    assert len(found) == 6 * wrong_programs.SCOUTS
    assert not counted & {each.code for each in found}
    assert {each.kind for each in found} == {"scout"}
    assert wrong_programs.scouts_of(sums(), [Program("reference", "r", "int f() { return 1 < 2; }", "cpp")], 6) == []


def test_scouts_that_pass_the_given_tests_fail_made_ones() -> None:
    assert failures(program("a == 33"), ExecutingJudge()) == [{33}]
    assert failures(program("a >= 0"), ExecutingJudge()) == []  # the given tests refuse it
    assert failures(program("a == 55"), ExecutingJudge()) == []  # no test tells it
    assert failures(program("b == 0"), ExecutingJudge()) == [set(range(1, 2 * scouts.CHUNK))]  # too many tell


def test_a_run_out_of_time_is_no_failure_and_the_last_one() -> None:
    assert failures(program("a in (2, 20)"), SlowOn(["20 0\n"])) == [{2}]
    assert failures(program("a in (2, 39)"), SlowOn(["20 0\n"])) == [{2}]
    assert failures(program("a in (2, 39)"), SlowOn([])) == [{2, 39}]


def test_scouts_run_on_no_slow_tests_and_stop_when_their_time_is_used() -> None:
    slow = [replace(each, seconds=1.0 if each.made.text == "33 0\n" else 0.01) for each in CANDIDATES]
    assert failures(program("a in (33, 34)"), ExecutingJudge(), slow) == [{34}]
    judge = ExecutingJudge(seconds=scouts.BUDGET_SECONDS / scouts.CHUNK)
    assert failures(program("a in (2, 33)"), judge) == [{2}]


def test_of_many_scouts_those_of_all_references_run() -> None:
    many = [Program("scout", str(n), program(f"a == {n // 3 + 11}")) for n in range(3 * len(TEXTS[11:]))]
    found = asyncio.run(scouts.failures(Runner(sums(), ExecutingJudge(), Memory()), many, CANDIDATES))
    assert set().union(*found) == set(range(11, 40))
    assert len(found) <= scouts.MOST_PASSED


def test_scouts_choose_tests_and_are_not_counted() -> None:
    made = [Made(f"{at}\n", "seen") for at in range(8)]
    candidates = [answers.Candidate(StdinTest(input=each.text, output="1"), each, "1") for each in made]
    recipe = Recipe.model_validate(
        {"name": "t", "sources": [{"path": "x"}], "strengthen": {"tests": 2, "least_tests": 2, "depth": 1}}
    )
    found = choice.Choice([Program("mutant", "m", "")], [0], {0: {6, 7}}, candidates, scouts=[{6}, {3}])
    chosen = choice.chosen(found, recipe)
    assert chosen.chosen == [6, 3]
    assert choice.counts(chosen) == (Share(0, 1), Share(1, 1))
    assert choice.held_out(found, recipe) == Share(1, 1)
