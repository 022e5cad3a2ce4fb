"""Tiers of inputs: what a first round tries, and what later rounds make of what was doubted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import tiers
from sandbox_service.strengthen.constants import Constants
from sandbox_service.strengthen.cover import choose
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.statement import rules_of
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from tests.validation.world import sums

ENUMERATED = tuple(each.name for each in (tiers.LEAST, tiers.GREATEST, tiers.SPECIAL))
LETTERS = ["5\nE 0 0 2 1 2\nS 3 2 1 1 3\n", "1\nE 0 0 1 1 1\nN 0 2 1 1 1\n"]
TREES = ["4\n1 2\n2 3\n2 4\n", "3\n3 1\n2 1\n"]
CONNECTED = ["4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n", "6 6\n1 2\n2 3\n3 4\n4 5\n5 6\n6 1\n"]
REPEATED = ["hellohrllohello\n", "hejhejhej\n"]
MODULI = ["11 13 17\n5 2 4\n0 0 0\n", "941 947 977\n142 510 700\n100 100 100\n"]


def made(inputs: list[str], judges: int = 3, count: int = 60, prompt: str = "", **changes: Any) -> list[Made]:
    given = sums(
        **({"prompt": prompt} if prompt else {}),
        tests=[{"type": "stdin", "input": each, "output": "1"} for each in inputs],
    )
    tests = [each for each in given.tests or [] if isinstance(each, StdinTest)]
    return StdinSubject(given, tests).made(Wanted(count, judges, **changes))


def numbers(found: list[Made]) -> list[int]:
    return [int(each.text) for each in found]


def test_each_tier_meets_several_patterns() -> None:
    patterns: dict[str, set[str]] = {}
    for each in made(["3\n1 2 3\n", "5\n4 4 1 9 2\n"], count=160):
        patterns.setdefault(each.tier, set()).add(each.how.rpartition(", ")[2])
    assert {"seen", "wider", "loose", "numbers to 10^9", "lengths to 10^3"} <= set(patterns)
    others = {name: found for name, found in patterns.items() if not name.startswith(("changed", *ENUMERATED))}
    assert all(len(found) >= 4 for found in others.values())


def test_letters_stay_letters_and_a_number_of_1_is_not_their_length() -> None:
    for each in made(LETTERS):
        assert all(len(line.split()[0]) == 1 for line in each.text.splitlines()[1:])
    tiers_of = {each.tier for each in made(LETTERS)}
    assert {"wider", "loose"} <= tiers_of
    assert "letters" not in tiers_of  # three letters may be all
    assert "letters" in {each.tier for each in made(REPEATED)}


def test_words_of_equal_parts_keep_them() -> None:
    form = form_of(REPEATED)
    assert form is not None
    assert [each.repeats for each in facts_of(form, REPEATED).slots.values()] == [3]
    for each in made(REPEATED):
        word = each.text.strip()
        size, parts = divmod(len(word), 3)
        assert parts == 0 or each.tier.startswith("changed")
        differing = sum(len({word[at], word[at + size], word[at + 2 * size]}) > 1 for at in range(size))
        assert differing <= 1 or each.tier.startswith("changed")


def test_few_references_judge_only_changes_that_keep_all_facts() -> None:
    for each in made(REPEATED, judges=2):
        word = each.text.strip()
        assert len(word) % 3 == 0


def test_a_greatest_number_that_many_inputs_have_is_a_bound() -> None:
    inputs = [f"{n} {17 * place}\n{' '.join(['4'] * n)}\n" for place, n in enumerate((1, 3, 10, 5, 10, 10, 2, 7))]
    longest = max(int(each.text.split()[0]) for each in made(inputs, count=100))
    assert longest == 10
    assert max(int(each.text.split()[1]) for each in made(inputs, count=100)) > 119
    assert max(int(each.text.split()[0]) for each in made(inputs[:5], count=100)) > 10


def test_a_doubted_magnitude_leads_to_those_below() -> None:
    first = {each.tier for each in made(["4\n", "6\n"])}
    assert {"numbers to 10^9", "numbers to 10^18"} <= first
    doubted = frozenset({"numbers to 10^18"})
    later = made(["4\n", "6\n"], round=1, tried=frozenset(first), doubted=doubted, is_enough=True)
    assert {each.tier for each in later} == {f"numbers to 10^{digits}" for digits in (10, 11, 12, 15)}
    assert max(numbers(later)) <= 10**15


def test_two_references_judge_a_single_number_ten_times_as_large() -> None:
    assert max(numbers(made(["4\n", "6\n"], judges=2))) in range(30, 61)
    assert max(numbers(made(["4\n", "6\n"], judges=1))) <= 6


def test_an_input_that_is_a_number_meets_the_least_numbers_one_after_the_other() -> None:
    found = numbers(made_for(STATEMENT.format("1 ≤ n ≤ 100", "a number"), ["17\n", "60\n"]))
    assert set(found) >= set(range(1, 17))


@pytest.mark.parametrize("judges", [1, 2, 3])
def test_many_inputs_are_small(judges: int) -> None:
    every = made(["9\n" + "7 40 2 900 6 2 8 1 5\n", "2\n4 4\n"], judges, count=96)
    found = [each for each in every if each.tier == "small"]
    assert 6 * len(found) >= len([each for each in every if each.tier not in ENUMERATED]) > 80
    for each in found:
        length, *items = map(int, each.text.split())
        assert length == len(items) <= 12
        assert all(1 <= item <= 6 for item in items)


@pytest.mark.parametrize(
    ("inputs", "bounds"), [(TREES, "1 ≤ n ≤ 100000"), (CONNECTED, "1 ≤ n ≤ 100000, 1 ≤ m ≤ 200000")]
)
def test_some_trees_are_so_deep_that_recursion_ends(inputs: list[str], bounds: str) -> None:
    statement = STATEMENT.format(f"{bounds}. The pairs form a connected graph.", "a number")
    found = made_for(statement, inputs, judges=3)
    sizes = [int(each.text.split()[0]) for each in found if each.tier in tiers.DEEP_NAMES]
    assert max(sizes) > 1000


def test_many_graphs_have_about_as_many_edges_as_nodes() -> None:
    sizes = [tuple(map(int, each.text.split("\n")[0].split())) for each in made(CONNECTED, count=100)]
    assert sum(abs(nodes - edges) <= 1 for nodes, edges in sizes) > len(sizes) / 3


def test_python_alone_judges_no_numbers_beyond_its_digits() -> None:
    assert max(numbers(made(["4\n", "6\n"], digits=9))) <= 10**9


def test_doubted_inputs_lead_to_some_that_keep_given_lines() -> None:
    tried = frozenset({"seen", "wider"})
    later = made(MODULI, round=1, tried=tried, doubted=tried, is_enough=True)
    kept = [each for each in later if each.tier == "keeping lines 1"]
    assert kept
    assert {each.text.split("\n")[0] for each in kept} <= {each.split("\n")[0] for each in MODULI}
    assert {each.tier for each in later} >= {"keeping lines 3", "keeping lines 1, 2"}


def test_doubted_words_lead_to_inputs_with_the_given_ones() -> None:
    tried = frozenset({"seen"})
    later = made(["12 4\nstraight\n0\n", "10 3\nadvantage\n0\n"], round=1, tried=tried, doubted=tried)
    rows = [each.text.split() for each in later if each.tier == "given words"]
    assert {row[2] for row in rows} == {"straight", "advantage"}
    assert max(int(row[0]) for row in rows) > 12


def test_inputs_with_rare_answers_are_changed_a_little() -> None:
    rare = ("5\n1 2 3 4 5\n",)
    later = made(["3\n1 2 3\n", "2\n4 4\n"], round=1, tried=frozenset({"near 0"}), rare=rare, is_enough=True)
    near = [each.text.split() for each in later if each.tier == "near 1"]
    assert near
    for each in near:
        assert sum(a != b for a, b in zip(each, rare[0].split(), strict=True)) <= tiers.NEAR


def test_constants_have_a_tier_of_their_own() -> None:
    inputs = ["3 900\n1 2 3\n", "2 5\n4 4\n"]
    found = made(inputs, judges=1, count=160, constants=Constants((512,)))
    with_constants = [each for each in found if {"511", "512", "513"} & set(each.text.split())]
    assert with_constants
    assert "constants" in {each.tier for each in with_constants}
    assert "constants" not in {each.tier for each in made(inputs, judges=1, count=100)}


def test_large_inputs_are_chosen_only_where_small_ones_do_not_tell() -> None:
    fails = {0: {0, 1}, 1: {0, 1}, 2: {0, 2}}
    assert choose(fails, [50_000, 10, 10], 2, 1) == [1, 2]
    assert choose({0: {0}, 1: {1}}, [50_000, 10], 2, 1) == [1, 0]


STATEMENT = "# Chain\n\nA story.\n\nInput\n\nThe first line has n. {}\n\nOutput\n\nPrint {}.\n\nExamples\n"
FORESTS = ["6\n-1\n1\n2\n1\n-1\n5\n", "5\n4\n-1\n4\n2\n3\n"]
PAIRS = ["3\n1 2\n2 3\n3 1\n", "4\n1 4\n4 2\n2 3\n3 1\n"]


def made_for(statement: str, inputs: list[str], judges: int = 1) -> list[Made]:
    tests = [{"type": "stdin", "input": each, "output": "1"} for each in inputs]
    problem = sums(prompt=statement, tests=tests)
    return StdinSubject(problem, [each for each in problem.tests or [] if isinstance(each, StdinTest)]).made(
        Wanted(40, judges)
    )


@pytest.mark.parametrize(
    ("rule", "is_made"),
    [
        ("It is guaranteed that no pair occurs twice.", True),
        ("It is guaranteed that the number is stable.", False),
        ("It is guaranteed that at least one solution exists.", False),
        ("It is guaranteed that the pairs form a tree.", False),
        ("He makes a guaranteed guess.", True),
        ("It is not guaranteed that a solution exists.", True),
        ("It's not guaranteed that a solution exists.", True),
        ("Here x and y are the two distinct ends that are connected by the i-th road.", True),
        ("Then come queries with 1≤l≤r≤100.", False),
        ("The integer n is even.", False),
        ("It is a power of two.", False),
        ("Then come rows with exactly one S.", False),
        ("The second line contains exactly one integer.", True),
        ("Both sides have the same sum.", False),
        ("Names are different.", False),
        ("Each pair has a number even if it is 0.", True),
        ("Then come numbers with 1 ≤ k ≤ n.", True),
        ("Here c_i=0 for the first pair.", False),
        ("Here c_i = 0, if the pair is free.", True),
        ("", True),
    ],
)
def test_few_references_judge_no_inputs_of_a_rule_that_no_fact_expresses(rule: str, is_made: bool) -> None:
    statement = STATEMENT.format(rule, "a number")
    assert bool(made_for(statement, PAIRS)) == is_made
    assert made_for(statement, PAIRS, judges=3)


@pytest.mark.parametrize(("inputs", "is_made"), [(FORESTS, True), (["4\n3\n1\n4\n3\n", "3\n2\n3\n1\n"], False)])
def test_no_node_of_a_forest_is_its_own_parent(inputs: list[str], is_made: bool) -> None:
    statement = STATEMENT.format("It is guaranteed that no one leads himself (pi ≠ i).", "a number")
    found = made_for(statement, inputs)
    assert bool(found) == is_made
    for each in found:
        assert all(parent != place for place, parent in enumerate(map(int, each.text.split()[1:]), 1))


def test_changed_tokens_make_no_cycle_of_parents() -> None:
    changed = [each.text for each in made(FORESTS, count=120) if each.tier.startswith("changed")]
    assert len(changed) > 2
    assert all(max(depths(each)) < len(each.split()) for each in changed)


def depths(text: str) -> list[int]:
    """The number of nodes above each one and itself; greater than all where there is a cycle."""
    parents = dict(enumerate(map(int, text.split()[1:]), 1))
    found = []
    for node in parents:
        at, depth = node, 0
        while at in parents and depth <= len(parents):
            at, depth = parents[at], depth + 1
        found.append(depth)
    return found


def test_forests_of_all_tiers_have_no_cycle_and_some_are_deep() -> None:
    found = made(FORESTS, count=120, prompt="For n it holds that 1 ≤ n ≤ 2000.")
    assert all(max(depths(each.text)) < len(each.text.split()) for each in found)
    assert max(max(depths(each.text)) for each in found if each.tier == tiers.DEEP.name) > 1000
    assert any(each.tier == "loose" for each in found)
    assert len({each.text.split().count("-1") for each in found}) > 3


def test_edges_that_are_sorted_name_no_parents_and_come_once() -> None:
    inputs = ["6 11\n1 3\n1 4\n1 5\n1 6\n2 3\n2 4\n2 5\n2 6\n3 4\n3 5\n3 6\n", "3 0\n", "5 4\n1 2\n1 3\n2 5\n3 5\n"]
    form = form_of(inputs)
    assert form is not None
    assert not any(each.parents or each.links for each in facts_of(form, inputs).slots.values())
    for each in (each for each in made(inputs, count=120) if not each.tier.startswith("changed")):
        edges = [frozenset(line.split()) for line in each.text.splitlines()[1:]]
        assert len(set(edges)) == len(edges)


def test_changed_tokens_leave_permutations() -> None:
    for each in made(["4\n2 1 4 3\n", "3\n3 1 2\n", "6\n6 4 2 1 3 5\n"], count=160):
        if each.tier.startswith("changed"):
            count, *numbers = map(int, each.text.split())
            assert sorted(numbers) == list(range(1, count + 1))


def test_what_is_in_parts_is_not_connected() -> None:
    statement = STATEMENT.format("It is guaranteed that any two are connected by roads.", "a number")
    assert not made_for(statement, ["4\n1 2\n2 1\n3 4\n4 3\n", "4\n1 3\n3 1\n2 4\n4 2\n"])


@pytest.mark.parametrize(
    ("rule", "numbers", "holds"),
    [
        ("It is an even integer.", (4, 40), lambda n: n % 2 == 0),
        ("It is guaranteed that n is odd.", (3, 15), lambda n: n % 2 == 1),
        ("It is n, a power of two.", (4, 64), lambda n: n in {2**power for power in range(30)}),
        ("The number n (1 ≤ n ≤ 100) is prime.", (5, 13), lambda n: all(n % each for each in range(2, n))),
    ],
)
def test_made_numbers_keep_a_property_of_all_given_ones(
    rule: str, numbers: tuple[int, int], holds: Callable[[int], bool]
) -> None:
    statement = STATEMENT.format(rule, "a number")
    found = made_for(statement, [f"{number}\n" for number in numbers])
    assert len(found) >= 3
    assert all(holds(int(each.text)) for each in found)
    others = made_for(statement, [f"{numbers[0]}\n", "9\n10\n"[: 2 if numbers[0] % 2 == 0 else 5][-3:].strip() + "\n"])
    assert not others  # one of these breaks the rule, so that it is of another number


@pytest.mark.parametrize("heading", ["Input", "## Input", r"\section*{Input}", "<h2>Input</h2>", r"\InputFile"])
def test_rules_are_read_below_any_heading(heading: str) -> None:
    statement = STATEMENT.format("The integer n is even.", "a number")
    assert rules_of(statement.replace("Input", heading)).sentences
    assert not rules_of(statement.replace("Input", "")).sentences


def test_what_is_not_guaranteed_is_no_rule() -> None:
    none = "It is not guaranteed that you can get from any city to any other one"
    assert not rules_of(STATEMENT.format(f"{none}.", "a number")).sentences
    assert rules_of(STATEMENT.format(f"{none}, but it is guaranteed that n is odd.", "a number")).sentences
    [found] = rules_of(STATEMENT.format(f"It is guaranteed that n is odd, but {none.lower()}.", "a number")).sentences
    assert found == "It is guaranteed that n is odd."


def test_cases_of_given_inputs_are_valid_whatever_the_rule() -> None:
    statement = STATEMENT.format("Then come test cases. It is guaranteed that each has a solution.", "a number")
    cases = ["3\n4\n6\n9\n", "2\n10\n12\n"]
    found = made_for(statement, cases)
    assert {each.tier for each in found} == {"given cases"}
    assert {number for each in found for number in each.text.split("\n")[1:-1]} <= {"4", "6", "9", "10", "12"}


def test_sums_that_the_statement_bounds_stay_below() -> None:
    statement = STATEMENT.format("Then come test cases. The sum of n over all cases does not exceed 100.", "a number")
    for each in made_for(statement, ["3\n40\n6\n9\n", "2\n60\n12\n"]):
        assert sum(map(int, each.text.split()[1:])) <= 100


@pytest.mark.parametrize(
    ("asked", "answer", "is_test"),
    [
        ("the sum", "12", True),
        ("any such number. If there is none, print NO", "12", False),
        ("any such number. If there is none, print NO", "NO", True),
        ("the pairs in any order", "1 2\n", False),
        ("the sum of any two numbers", "12", True),
        ("the share. If there are several solutions, print the least one", "3", True),
        ("the share", "0.25", False),
    ],
)
def test_answers_of_which_others_may_be_right_make_no_test(asked: str, answer: str, is_test: bool) -> None:
    problem = sums(prompt=STATEMENT.format("", asked))
    subject = StdinSubject(problem, [each for each in problem.tests or [] if isinstance(each, StdinTest)])
    assert (subject.test(Made("1\n", "seen"), answer) is not None) == is_test


def test_a_tolerance_compares_real_numbers() -> None:
    problem = sums(checker={"type": "tokens", "float_tolerance": 1e-6})
    subject = StdinSubject(problem, [each for each in problem.tests or [] if isinstance(each, StdinTest)])
    assert subject.test(Made("1\n", "seen"), "0.25") is not None
