"""Large inputs: how large they are, when a smaller one is tried, and which tests are chosen."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade, StdinTest, Verdict
from sandbox_service.strengthen import choice, large_tests, work
from sandbox_service.strengthen.answers import Answered, Candidate
from sandbox_service.strengthen.choice import Choice
from sandbox_service.strengthen.patterns import LISTS, arranged, distinct_numbers
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.strengthen.trees import edges
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.world import ExecutingJudge, Memory
from tests.validation.world import sums

LISTS_GIVEN = ["3\n1 2 3\n", "5\n4 4 1 9 2\n"]
GRAPHS = ["4 3\n1 2\n2 3\n3 4\n", "6 4\n1 2\n1 6\n5 6\n2 6\n"]
TREES = ["4\n1 2\n2 3\n2 4\n", "3\n3 1\n2 1\n"]
CASES = ["2\n3\n1 2 3\n1\n7\n", "1\n2\n5 5\n"]
ROWS = ["2\n2 5 6\n1 4\n", "1\n3 1 1 2\n"]
TABLES = ["2 3\n1 1 3\n4 5 5\n", "3 2\n1 1\n3 4\n5 3\n"]
SUM = "import sys\nprint(sum(map(int, sys.stdin.read().split())))"


def problem(inputs: list[str], statement: str, **changes: Any) -> Problem:
    tests = [{"type": "stdin", "input": each, "output": "1"} for each in inputs]
    return sums(tests=tests, prompt=f"Input\n\n{statement}\n\nOutput\n\nA number.\n", **changes)


def subject(inputs: list[str], statement: str) -> StdinSubject:
    given = problem(inputs, statement)
    return StdinSubject(given, [each for each in given.tests or [] if isinstance(each, StdinTest)])


def large(inputs: list[str], statement: str, judges: int = 3, size: int = 100_000, shrunk: int = 1) -> dict[str, str]:
    found = subject(inputs, statement).large(Wanted(96, judges, most_bytes=size), None, shrunk)
    return {each.tier.removeprefix("large: "): each.text for each in found}


def test_lists_are_as_long_as_the_statement_allows() -> None:
    found = large(LISTS_GIVEN, "1 ≤ n ≤ 10000, 1 ≤ a ≤ 10^5")
    assert list(found) == ["ridge", "wide", "equal", "prime"]
    assert all(each.startswith("10000\n") for each in found.values())
    assert all(len(each) <= 100_000 for each in found.values())


def test_no_list_is_longer_than_seen_or_stated() -> None:
    assert large(LISTS_GIVEN, "n numbers") == {}
    assert large(LISTS_GIVEN, "1 ≤ n ≤ 100, 1 ≤ a ≤ 10^5") == {}


def test_a_size_in_bytes_bounds_the_length() -> None:
    found = large(LISTS_GIVEN, "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 10^5", size=50_000)
    assert all(25_000 < len(each) <= 50_000 for name, each in found.items() if name in ("wide", "ridge"))


def test_nodes_grow_with_their_number() -> None:
    found = large(GRAPHS, "1 ≤ n ≤ 5000, 0 ≤ m ≤ 6000")
    nodes = [int(token) for line in found["wide"].splitlines()[1:] for token in line.split()]
    assert 4000 < max(nodes) <= 5000
    assert found["wide, only length 1"].startswith("5000 0\n")


def test_a_graph_is_a_long_path_or_has_several_components() -> None:
    found = large(
        GRAPHS, "A graph has n nodes and m edges (1 ≤ n, m ≤ 10^5). Each line has two nodes a, b (1 ≤ a, b ≤ n)."
    )
    nodes, count, *ends = map(int, found["ridge"].split())
    assert nodes - 1 <= count <= nodes
    degrees = Counter(ends)
    assert len(degrees) == nodes >= 5000
    assert max(degrees.values()) == 2
    assert found["wide"].split()[0] == str(nodes)


def test_a_tree_of_the_greatest_size_has_no_more_bytes() -> None:
    found = large(TREES, "A tree has n nodes (1 ≤ n ≤ 10^5).")
    assert all(70_000 <= len(each) <= 100_000 for each in found.values())


def test_flags_do_not_grow_with_a_length() -> None:
    found = large(["3\n1 0 1\n", "4\n0 0 1 1\n"], "1 ≤ n ≤ 5000")
    assert set(found["wide"].split()[1:]) == {"0", "1"}


PARENTS = ["6\n1 1 2 2 5\n", "4\n1 1 1\n"]


@pytest.mark.parametrize("judges", [1, 3])
def test_numbers_that_name_parents_do_so_in_large_trees(judges: int) -> None:
    for text in large(PARENTS, "2 ≤ n ≤ 100000", judges, 40_000).values():
        count, *parents = map(int, text.split())
        assert count > 5000
        assert all(1 <= parent <= place for place, parent in enumerate(parents, 1))


def test_few_references_judge_only_what_keeps_all_facts() -> None:
    assert large(["4\n3 1 2 5\n", "3\n6 2 7\n"], "1 ≤ n ≤ 5000", 3)
    assert large(["4\n3 1 2 5\n", "3\n6 2 7\n"], "1 ≤ n ≤ 5000", 2) == {}  # as many distinct numbers are not there


def test_one_case_is_great_or_there_are_many_least_ones() -> None:
    found = large(CASES, "1 ≤ t ≤ 4000, 1 ≤ n ≤ 5000, 1 ≤ a ≤ 9")
    assert found["wide"].startswith("1\n5000\n")
    assert found["wide, only length 1"].startswith("4000\n1\n")


def test_lengths_inside_each_other_are_not_great_together() -> None:
    for each in large(ROWS, "1 ≤ n ≤ 5000, 1 ≤ k ≤ 5000, 1 ≤ a ≤ 9").values():
        assert len(each.split()) <= 5002 * 3


def test_a_bound_of_a_product_leaves_one_length_great() -> None:
    assert "wide" in large(TABLES, "1 ≤ n, m ≤ 10000, 0 ≤ a ≤ 9")
    bounded = large(TABLES, "1 ≤ n, m ≤ 10000, n · m ≤ 10000, 0 ≤ a ≤ 9")
    assert bounded
    assert all("only" in name for name in bounded)


def test_a_rule_that_no_fact_expresses_makes_none() -> None:
    statement = "1 ≤ n ≤ 10000, 1 ≤ a ≤ 10^5."
    assert large(LISTS_GIVEN, statement)
    assert not large(LISTS_GIVEN, f"{statement} It is guaranteed that the game ends after at most 50 moves.")


def test_a_tree_is_a_path_and_a_star_and_a_random_one() -> None:
    found = large(TREES, "The edges of a tree. 2 ≤ n ≤ 3000")
    degrees = {}
    for name, text in found.items():
        ends = text.split()[1:]
        degrees[name] = max(ends.count(each) for each in {*ends[:40]} | {max(set(ends), key=ends.count)})
    assert degrees["ridge"] == 2
    assert degrees["equal"] == 2999
    assert 2 < degrees["wide"] < 100


@pytest.mark.parametrize(
    "bound",
    ["1 ≤ |s| ≤ 5000", "1 ≤ |s|, |t| ≤ 5000", "Its length does not exceed 5000", "at most 5000 lowercase letters"],
)
def test_words_are_as_long_as_the_statement_allows(bound: str) -> None:
    found = large(["abcab\n", "zzyx\n", "hello\n"], f"A string s. {bound}.")
    assert {name: len(each.strip()) for name, each in found.items()} == dict.fromkeys(
        ("wide", "equal", "edges", "alternating"), 5000
    )
    assert len(set(found["equal"].strip())) == 1
    assert found["edges"].strip() == found["edges"].strip()[::-1]


def test_words_are_no_longer_than_seen_or_than_the_least_of_several_bounds() -> None:
    assert large(["abcab\n", "zzyx\n"], "A string.") == {}
    assert large(["add 1\n", "remove 2\n"], "A command and a number, 1 ≤ |s| ≤ 5000.") == {}
    assert large(["abcab\n", "zzyx\n"], "1 ≤ |s| ≤ 5000, or 1 ≤ |s| ≤ 100 for half of the points.") == {}


def test_numbers_without_a_length_are_great_and_prime() -> None:
    assert large(["17\n", "60\n"], "1 ≤ n ≤ 10^9")["prime"] == "999999937\n"
    assert int(large(["17\n", "60\n"], "1 ≤ n ≤ 10^9", shrunk=4)["high"]) == 250_000_000
    assert large(["17\n", "60\n"], "1 ≤ n ≤ 1000") == {}


def test_a_ridge_begins_with_the_greatest_number_and_ascends_and_descends() -> None:
    assert arranged([1, 2, 3, 4, 5, 6], "ridge", random.Random(0)) == [6, 1, 3, 5, 4, 2]
    assert arranged([7], "ridge", random.Random(0)) == [7]
    found = LISTS["ridge"](1, 1000, 51, random.Random(0))
    assert found[0] == max(found)
    assert found[1:26] == sorted(found[1:26])
    assert found[26:] == sorted(found[26:], reverse=True)
    assert len(set(distinct_numbers(Range(1, 60), 50, "ridge", random.Random(0)))) == 50
    assert max(map(list(sum(edges(50, "ridge", random.Random(0)), ())).count, range(1, 51))) == 2


@pytest.mark.parametrize(("low", "high"), [(2, 10**6), (14, 16), (-5, -2), (0, 1)])
def test_primes_are_within_their_range(low: int, high: int) -> None:
    assert all(low <= each <= high for each in LISTS["prime"](low, high, 20, random.Random(0)))


# --- which sizes are valid


class Slow(ExecutingJudge):
    """A judge whose programs need a second for 100,000 bytes. `limits` has those of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[float] = []

    async def grade(self, shared: Any, submissions: Any) -> list[Grade]:
        self.limits.append(shared["limits"]["cpu_seconds"])
        grades = await super().grade(shared, submissions)
        return [self._late(each, shared) for each in grades]

    def _late(self, grade: Grade, shared: Any) -> Grade:
        needed = [len(each["input"]) / 100_000 for each in shared["tests"]]
        tests = [
            one.model_copy(
                update={"cpu_seconds": seconds, "verdict": Verdict.TLE if seconds > self.limits[-1] else one.verdict}
            )
            for one, seconds in zip(grade.tests, needed, strict=False)
        ]
        return grade.model_copy(update={"tests": tests})


def found_with(seconds: float, size: int = 100_000) -> list[Candidate]:
    given = problem(LISTS_GIVEN, "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 9", limits={"cpu_seconds": seconds})
    runner, reference = Runner(given, Slow(), Memory()), Program("reference", "r", SUM)
    one = subject(LISTS_GIVEN, "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 9")
    wanted = Wanted(96, 3, most_bytes=size)
    return asyncio.run(large_tests.find(runner, one, [reference], wanted, (), 1)).candidates


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(10, 60_000, 100_000), (2, 15_000, 25_000), (0.8, 4_000, 6_250)]
)
def test_an_input_is_as_large_as_an_eighth_of_the_limit_bears(seconds: float, least: int, most: int) -> None:
    sizes = [len(each.made.text) for each in found_with(seconds)]
    assert len(sizes) == 4
    assert all(size <= most for size in sizes)
    assert max(sizes) >= least


def test_no_input_is_large_where_references_take_too_long() -> None:
    assert found_with(0.1) == []
    assert found_with(10, size=0) == []


def test_no_large_input_is_believed_where_references_differ_on_one() -> None:
    given = problem(LISTS_GIVEN, "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 9")
    other = "n = int(input())\na = list(map(int, input().split()))\nprint(n + sum(a) + (len(set(a)) == 1))"
    references = [Program("reference", "r", SUM), Program("reference", "o", other)]
    one, wanted = subject(LISTS_GIVEN, "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 9"), Wanted(96, 3, most_bytes=20_000)
    for judges, count in ((1, 4), (2, 0)):
        runner = Runner(given, ExecutingJudge(), Memory())
        found = asyncio.run(large_tests.find(runner, one, references[:judges], wanted, (), 1))
        assert len(found.candidates) == count


def test_compiled_references_have_less_time_since_programs_in_python_need_more() -> None:
    python, compiled = Program("reference", "p", SUM), Program("reference", "c", "int main(){}", "cpp")
    assert large_tests.bounds_of([python, compiled]).time_share == 1 / 8
    assert large_tests.bounds_of([compiled]).time_share == 1 / 80


# --- what is chosen


def recipe(**changes: Any) -> Recipe:
    made = {"inputs": 24, "mutants": 12, "large_bytes": 20_000, **changes}
    return Recipe.model_validate({"name": "t", "sources": [{"path": "x"}], "strengthen": made})


def candidate(text: str, tier: str) -> Candidate:
    return Candidate(StdinTest(input=text, output="1"), Made(text, tier, tier), text)


def test_large_tests_are_few_and_last_and_those_that_refuse_what_others_accept() -> None:
    candidates = [candidate("1", "seen"), *(candidate(str(each) * 5, f"large: {each}") for each in (2, 3, 4))]
    programs = [Program("mutant", str(each), "") for each in range(2)]
    found = Choice(programs, [0, 1], {0: {0, 1}, 1: {3}}, [*candidates, candidate("99", "seen")])
    assert choice.chosen(found, recipe(audit=5, large_tests=2)).chosen == [0, 4, 3, 1]
    assert choice.chosen(found, recipe()).chosen[-1] == 3
    assert choice.chosen(found, recipe(large_tests=0)).chosen == [0, 4]
    assert not {1, 2, 3} & set(choice.chosen(found, recipe(audit=5)).audit)


def test_the_added_tests_end_with_large_ones() -> None:
    statement = "1 ≤ n ≤ 10^5, 1 ≤ a ≤ 10^5"
    tests = [
        {"type": "stdin", "input": each, "output": out} for each, out in zip(LISTS_GIVEN, ("9", "25"), strict=True)
    ]
    given = problem(LISTS_GIVEN, statement).model_copy(update={"tests": [StdinTest(**each) for each in tests]})
    given = Problem.model_validate(
        {**given.model_dump(mode="json"), "solutions": [{"code": SUM}, {"code": f"{SUM}\n"}]}
    )
    record = asyncio.run(work.strengthen(Runner(given, ExecutingJudge(), Memory()), recipe(large_tests=2)))
    sizes = [len(each["input"]) for each in record["added"]]
    assert [size > 10_000 for size in sizes[-3:]] == [False, True, True]
    none = asyncio.run(work.strengthen(Runner(given, ExecutingJudge(), Memory()), recipe(large_bytes=0)))
    assert not any(each["how"].startswith("large") for each in none["strength"]["added"])


def test_mutants_have_less_time_than_known_wrong_programs() -> None:
    given, judge = sums(limits={"cpu_seconds": 10}), Slow()
    programs = [Program("mutant", "m", SUM), Program("wrong", "w", f"{SUM} ")]
    one = candidate("1\n1\n", "large: wide")
    asyncio.run(work.fails_of(Runner(given, judge, Memory()), recipe(), programs, Answered([one], 0.0, [])))
    assert sorted(set(judge.limits)) == [1, 10]
