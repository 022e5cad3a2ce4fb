"""Strengthening of a problem: what is added, what is measured, what is marked, and what is asked again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade, Limits, StdinTest, TestResult, Verdict
from sandbox_service.strengthen import answers, choice, cover, merging, records, strength, work
from sandbox_service.strengthen.answers import Answered, Candidate
from sandbox_service.strengthen.runs import NotJudgedError, Program, Runner
from sandbox_service.strengthen.strength import Share
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.strengthen.tiers import Made
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.world import ExecutingJudge, Memory
from tests.validation.world import sums

RIGHT = ["a, b = map(int, input().split())\nprint(a + b)", "import sys\nprint(sum(map(int, sys.stdin.read().split())))"]
OR = {"code": "a, b = map(int, input().split())\nprint(a | b)", "verdicts": ["WA"], "name": "or"}


def problem(**changes: Any) -> Problem:
    fields: dict[str, Any] = {
        "tests": [{"type": "stdin", "input": f"{a} {b}\n", "output": str(a + b)} for a, b in ((1, 2), (4, 8), (16, 1))],
        "solutions": [*({"code": code} for code in RIGHT), OR],
    }
    return sums(**{**fields, **changes})


def recipe(**changes: Any) -> Recipe:
    made = {"inputs": 24, "mutants": 12, **changes}
    return Recipe.model_validate({"name": "t", "sources": [{"path": "x"}], "strengthen": made})


def strengthened(given: Problem, judge: ExecutingJudge, memory: Memory | None = None, **changes: Any) -> records.Record:
    runner = Runner(given, judge, Memory() if memory is None else memory)
    return asyncio.run(work.strengthen(runner, recipe(**changes)))


def test_wrong_programs_are_refused_afterwards() -> None:
    record = strengthened(problem(), ExecutingJudge())
    made = record["strength"]
    assert made["kinds"]["wrong"] == [0, 1, 1]  # 1|2, 4|8 and 16|1 are sums
    assert made["kinds"]["table"][1:] == [2, 2]
    assert made["after"]["share"] == 1.0 > made["before"]["share"]
    assert {"program": "or", "kind": "wrong"}.items() <= record["caught"][0].items()
    assert 4 <= len(record["added"]) <= 20
    assert record["left"] == []


def test_the_line_has_old_and_new_tests_and_the_strength() -> None:
    given = problem()
    line = work.with_tests(given, strengthened(given, ExecutingJudge(), audit=2))
    assert line.tests is not None
    assert line.tests[:3] == given.tests
    assert [each.role for each in line.tests[-2:]] == ["audit", "audit"]
    assert line.strength is not None
    assert [each.index for each in line.strength.added] == list(range(3, len(line.tests)))
    assert all(isinstance(each, StdinTest) and each.output for each in line.tests)


def test_nothing_is_asked_twice_and_the_record_is_the_same() -> None:
    memory, judge = Memory(), ExecutingJudge()
    first = strengthened(problem(), judge, memory)
    asked = judge.asked
    assert strengthened(problem(), judge, memory) == first
    assert judge.asked == asked
    assert strengthened(problem(), ExecutingJudge()) == first


def test_an_interrupted_run_asks_for_the_rest_only() -> None:
    whole, judge = Memory(), ExecutingJudge()
    first = strengthened(problem(), judge, whole)
    part = Memory(dict(list(whole.items())[:3]))
    again = ExecutingJudge()
    assert strengthened(problem(), again, part) == first
    assert 0 < again.asked < judge.asked


def test_a_single_reference_is_marked_and_may_be_left() -> None:
    given = problem(solutions=[{"code": RIGHT[0]}, OR])
    made = strengthened(given, ExecutingJudge())["strength"]
    assert made["references"] == 1
    assert {each["references"] for each in made["added"]} == {1}
    left = strengthened(given, ExecutingJudge(), least_references=2)
    assert "too few references" in left["reason"]
    assert work.with_tests(given, left) == given


def test_references_that_differ_are_suspicious_and_their_inputs_are_no_tests() -> None:
    third = {"code": "a, b = map(int, input().split())\nprint(a + b if a < 30 else 0)", "name": "third"}
    given = problem(solutions=[*({"code": code} for code in RIGHT), third])
    record = strengthened(given, ExecutingJudge())
    assert [each["program"] for each in record["suspicious"]] == ["third"]
    assert all(int(each["input"].split()[0]) < 30 for each in record["added"])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"solutions": []}, "no reference"),
        ({"solutions": [{"code": "print(0)"}]}, "no reference"),
        ({"tests": [{"type": "call", "function": "f", "output": 1}]}, "not plain calls"),
    ],
)
def test_what_cannot_be_strengthened_stays_with_a_reason(changes: dict[str, Any], reason: str) -> None:
    assert reason in strengthened(problem(**changes), ExecutingJudge())["reason"]


def test_a_fault_is_kept_nowhere() -> None:
    memory = Memory()
    with pytest.raises(NotJudgedError, match="no sandbox"):
        strengthened(problem(), ExecutingJudge(faulty="sys.stdin"), memory)
    assert not memory


def test_no_more_inputs_are_asked_for_where_some_take_too_long() -> None:
    class Late(ExecutingJudge):
        async def grade(self, shared: Any, _: Any) -> Any:
            self.asked += len(shared["tests"])
            late = [TestResult(index=at, verdict=Verdict.TLE) for at in range(len(shared["tests"]))]
            return [Grade(id="", verdict=Verdict.TLE, reward=0, tests=late)]

    subject, judge = subject_of(problem()), Late()
    assert not isinstance(subject, str)
    made = [Made(f"{n} {n}\n", "", "far" if n < 30 else "near") for n in range(40)]
    reference, limits = Program("reference", "r", RIGHT[0]), Limits()
    inputs, row = asyncio.run(answers.asked(Runner(problem(), judge, Memory()), subject, reference, made, limits))
    assert [each.tier for each in inputs] == ["far"] * answers.CHUNK + ["near"] * 2
    assert len(row.verdicts) == len(row.outputs) == judge.asked == len(inputs)


def test_a_program_that_needs_its_whole_limit_is_run_on_few_tests() -> None:
    class Late(ExecutingJudge):
        async def grade(self, shared: Any, submissions: Any) -> Any:
            if shared["tests"][0]["input"] in {each.input for each in given.tests or [] if isinstance(each, StdinTest)}:
                return await super().grade(shared, submissions)
            ran.append(len(shared["tests"]))
            late = [TestResult(index=at, verdict=Verdict.TLE) for at in range(len(shared["tests"]))]
            return [Grade(id="", verdict=Verdict.TLE, reward=0, tests=late) for _ in submissions]

    ran: list[int] = []
    given, endless = problem(), [Program("mutant", "endless", RIGHT[0]), Program("wrong", "slow", RIGHT[1])]
    valid = [Candidate(StdinTest(input=f"{n} 90\n", output="1"), Made(f"{n} 90\n", "")) for n in range(60)]
    runner = Runner(given, Late(), Memory())
    found = asyncio.run(work.fails_of(runner, recipe(audit=0), endless, Answered(valid, 0.1, [])))
    assert found.fails == {0: {0, 1}, 1: {0, 1}}
    assert sum(ran) == 2


def test_the_cover_takes_few_and_short_tests() -> None:
    fails = {0: {0, 1}, 1: {1, 2}, 2: {1}, 3: set[int]()}
    assert cover.choose(fails, [1, 9, 1], 5, 1) == [1]
    assert cover.choose(fails, [1, 9, 1], 5, 2) == [1, 0, 2]
    assert cover.choose(fails, [1, 9, 1], 2, 2) == [1, 0]
    assert cover.choose({0: {0, 1}}, [5, 2], 5, 1) == [1]
    assert cover.filled([0], ["a", "a", "b", "c"], ["x", "y", "x", "z"], 3) == [0, 3, 2]


def test_a_rarely_told_program_is_refused_again_before_others() -> None:
    often = {program: {0, 1, 2, 3} for program in range(4)}
    fails = {**often, 4: {4, 5}}
    assert cover.choose(fails, [1] * 6, 6, 8) == [0, 4, 1, 5, 2, 3]
    assert cover.choose(fails, [1] * 6, 6, 1) == [0, 4]


def test_there_is_room_for_extremes_where_each_program_is_refused() -> None:
    texts = [f"{at}\n" for at in range(10, 18)] + ["1\n", "99\n", "5 5 5\n"]
    made = [Made(each, "seen") for each in texts]
    candidates = [answers.Candidate(StdinTest(input=each.text, output="1"), each, "1") for each in made]
    mutant = [Program("mutant", "m", "")] * 8
    one = choice.Choice(mutant[:1], [0], {0: set(range(8))}, candidates)
    assert choice.chosen(one, recipe(tests=5, least_tests=5)).chosen == [0, 1, 9, 8, 10]
    each = choice.Choice(mutant, list(range(8)), {at: {at} for at in range(8)}, candidates)
    assert choice.chosen(each, recipe(tests=9, least_tests=9)).chosen == [*range(8), 9]


def test_as_many_tests_are_added_as_are_wanted() -> None:
    made = [Made("7" * (9 - at) + "\n", "seen") for at in range(9)]
    candidates = [answers.Candidate(StdinTest(input=each.text, output="1"), each, "1") for each in made]
    found = choice.Choice([], [], {}, candidates)
    ends = choice.extremes(candidates)
    assert ends == [0, 8]
    assert choice.chosen(found, recipe(tests=6, least_tests=5)).chosen == [0, 8, 7, 6, 5]
    some = choice.chosen(found, recipe(tests=9, least_tests=9, audit=3))
    assert (len(some.chosen), len(some.audit)) == (6, 3)


def test_mutants_run_on_slow_tests_only_if_no_other_tells_them() -> None:
    texts = ["1 2\n", "3 3\n", "5 5\n", "7 7\n"]
    seconds = [0.2, 0.001, 0.001, 0.2]
    candidates = [
        answers.Candidate(StdinTest(input=each, output=str(sum(map(int, each.split())))), Made(each, "seen"), "", took)
        for each, took in zip(texts, seconds, strict=True)
    ]
    plain, late = (
        "a, b = map(int, input().split())\nprint(0)",
        "a, b = map(int, input().split())\nprint(a + b + (a == 7))",
    )
    programs = [Program("mutant", "plain", plain), Program("mutant", "late", late), Program("wrong", "wrong", plain)]
    given = problem(tests=[{"type": "stdin", "input": "0 0\n", "output": "0"}])
    judge, memory = ExecutingJudge(), Memory()
    found = asyncio.run(
        work.fails_of(Runner(given, judge, memory), recipe(), programs, answers.Answered(candidates, 0.2, []))
    )
    assert found.fails == {0: {1, 2}, 1: {3}, 2: {0, 1, 2, 3}}


def test_shares_have_an_interval() -> None:
    low, high = Share(9, 10).interval  # Wilson's, as in tables
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    assert Share(0, 0).value is None
    assert strength.total([Share(1, 2), Share(3, 4)]) == Share(4, 6)
    assert sorted(place for part in strength.folds(12) for place in part) == list(range(12))


def test_audit_tests_are_as_many_as_wanted() -> None:
    record = strengthened(problem(), ExecutingJudge(), audit=12)
    audit = [each for each in record["added"] if each["role"] == "audit"]
    assert len(audit) == 12
    assert {each["cpu_seconds"] for each in audit} == {merging.LEAST_AUDIT_SECONDS}  # each takes 1 ms


def test_audit_tests_refuse_mutants_that_given_tests_refuse() -> None:
    made = [Made(f"{at}\n", "seen") for at in range(8)]
    candidates = [answers.Candidate(StdinTest(input=each.text, output="1"), each, "1") for each in made]
    mutant = Program("mutant", "refused", "")
    found = choice.Choice([mutant], [], {}, candidates, known={0: {5}})
    wanted = recipe(tests=2, least_tests=2, audit=1)
    assert choice.chosen(found, wanted).audit == [5]
    assert 5 not in choice.chosen(found, wanted).chosen
    assert choice.chosen(found, wanted, without=[0]).audit != [5]


def test_only_what_two_runs_needed_is_the_time_of_a_test() -> None:
    class Noisy(ExecutingJudge):
        async def grade(self, shared: Any, submissions: Any) -> Any:
            grades = await super().grade(shared, submissions)
            self.runs = getattr(self, "runs", 0) + 1
            return [each.model_copy(update={"tests": [self._slow(test) for test in each.tests]}) for each in grades]

        def _slow(self, test: TestResult) -> TestResult:
            seconds = 0.5 if test.index in (0, self.runs) else 0.002
            return test.model_copy(update={"cpu_seconds": seconds})

    subject, given = subject_of(problem()), [Made(f"{n} {n}\n", "", "seen") for n in range(6)]
    assert not isinstance(subject, str)
    references = [Program("reference", "r", RIGHT[0])]
    found = asyncio.run(answers.find(Runner(problem(), Noisy(), Memory()), subject, references, given, Limits(), 1))
    assert [each.seconds for each in found.candidates] == pytest.approx([0.5, *[0.002] * 5])


def test_a_slow_audit_test_is_chosen_only_where_no_other_tells() -> None:
    made = [Made(f"{at}\n", "seen") for at in range(8)]
    seconds = [0.002] * 4 + [0.2] * 4
    candidates = [
        answers.Candidate(StdinTest(input=each.text, output="1"), each, "1", seconds=took)
        for each, took in zip(made, seconds, strict=True)
    ]
    mutants = [Program("mutant", "refused", "")] * 3
    wanted = recipe(tests=0, least_tests=0, audit=2)
    both = choice.Choice(mutants, [], {}, candidates, known={0: {2, 5}, 1: {3, 5}, 2: {3, 5}})
    assert choice.chosen(both, wanted).audit == [3, 2]
    only = choice.Choice(mutants, [], {}, candidates, known={0: {2}, 1: {6}})
    assert set(choice.chosen(only, wanted).audit) == {2, 6}
    assert set(choice.chosen(choice.Choice([], [], {}, candidates), wanted).audit) <= {0, 1, 2, 3}


def test_a_problem_without_a_valid_input_stays_as_it_is_and_says_why() -> None:
    rule = "It is guaranteed that the first one is lucky."
    given = problem(
        prompt=f"Add.\n\nInput\n\nTwo numbers. {rule}\n\nOutput\n\nTheir sum.\n", solutions=[{"code": RIGHT[0]}]
    )
    record = strengthened(given, ExecutingJudge())
    assert record["reason"].startswith("no made input is valid")
    assert rule in record["reason"]
    assert work.with_tests(given, record) == given


PARTS = """def check(input, output, answer):
    parts = [int(word) for word in output.split()]
    return len(parts) == 2 and min(parts) > 0 and sum(parts) == int(input)
"""
HALVES = {"code": "n = int(input())\nprint(n // 2, n // 2)", "verdicts": ["WA"], "name": "halves"}


def parts(**changes: Any) -> Problem:
    """A problem with several right answers, its checker, and references that give different ones."""
    tests = [{"type": "stdin", "input": f"{n}\n", "output": f"1 {n - 1}"} for n in (2, 8, 16, 24)]
    codes = ("n = int(input())\nprint(1, n - 1)", "n = int(input())\nprint(n - 1, 1)")
    judge = {"type": "program", "protocol": "function", "source": PARTS}
    fields = {"tests": tests, "solutions": [*({"code": code} for code in codes), HALVES], "checker": judge}
    return problem(prompt="Divide n loaves. Print any of the ways to do so. " * 4, **{**fields, **changes})


def test_a_checker_program_judges_made_tests() -> None:
    record = strengthened(parts(), ExecutingJudge())
    assert record["strength"]["after"]["refused"] > record["strength"]["before"]["refused"]
    assert any(int(test["input"]) % 2 for test in record["added"])
    assert record["suspicious"] == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"judge_arguments": ["--strict"]}, "its checker program gets arguments for each test"),
        ({"full_score": 4.0}, "its checker program gives points"),
    ],
)
def test_some_checker_programs_cannot_judge_made_tests(changes: dict[str, Any], reason: str) -> None:
    given = parts()
    tests = [each.model_copy(update=changes) for each in given.tests or ()]
    assert strengthened(given.model_copy(update={"tests": tests}), ExecutingJudge())["reason"] == reason
