"""Bounds of a statement: those by numbers and by other variables, and the ranges and limits of an input's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen.bounds import Bound, input_bounds_in
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.form import Form
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.limits import over_limit
from sandbox_service.strengthen.ranges import Range, ranges_of
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from tests.validation.world import sums

TEXT = "A story of 1 ≤ z ≤ 7.\n\nInput\n\nThe first line has the sizes ({}).\n\nOutput\n\nIt is 1 ≤ y ≤ 9.\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1 ≤ n ≤ 9, 1 ≤ a_i, b_i ≤ n", [Bound("n", 1, 9), Bound("a_i", 1, 9, "n"), Bound("b_i", 1, 9, "n")]),
        ("2 ≤ n ≤ 9, n - 1 ≤ m ≤ 50", [Bound("n", 2, 9), Bound("m", 1, 50)]),
        ("1 ≤ n ≤ 9, 0 ≤ m ≤ min((n(n-1))/(2),10^5)", [Bound("n", 1, 9), Bound("m", 0, 100_000)]),
        ("1 ≤ n ≤ 9, 0 ≤ m ≤ min(50, n)", [Bound("n", 1, 9), Bound("m", 0, 50)]),
        ("1 ≤ n ≤ 9, 0 ≤ m ≤ n(n-1)/2", [Bound("n", 1, 9), Bound("m", 0, None)]),
        ("1 ≤ n ≤ 9, 0 ≤ m ≤ <image>", [Bound("n", 1, 9), Bound("m", 0, None)]),
        ("1 ≤ k ≤ 9, 1 ≤ a_i < 2k", [Bound("k", 1, 9), Bound("a_i", 1, 17, "k", 2, -1)]),
        ("1 ≤ n ≤ 9, 1 ≤ p_i < i", [Bound("n", 1, 9), Bound("p_i", 1, None)]),
        ("1 ≤ n ≤ 9, 1 ≤ i ≤ n, 1 ≤ x ≤ 3, 0 ≤ x_i ≤ 4", [Bound("n", 1, 9), Bound("x", 1, 3), Bound("x_i", 0, 4)]),
        ("-5 ≤ x ≤ 5", [Bound("x", -5, 5)]),
    ],
)
def test_bounds_by_other_variables_are_read_from_the_part_about_the_input(text: str, found: list[Bound]) -> None:
    assert [each for each in input_bounds_in(TEXT.format(text)) if each.low <= 9] == [
        Bound(each.name, each.low, each.high, each.limit + "i" * (len(each.limit) > 1), each.factor, each.by)
        for each in found
    ]


def ranges(bounds: str, inputs: list[str]) -> tuple[Form, dict[int, Range]]:
    form = form_of(inputs)
    assert form is not None
    return form, ranges_of(form, facts_of(form, inputs), TEXT.format(bounds), is_wide=False)


def made(bounds: str, inputs: list[str]) -> list[Made]:
    tests: Any = [{"type": "stdin", "input": each, "output": "1"} for each in inputs]
    problem = sums(prompt=TEXT.format(bounds), tests=tests)
    subject = StdinSubject(problem, [each for each in problem.tests or [] if isinstance(each, StdinTest)])
    return subject.made(Wanted(90, 2))


PAIRS = ["4 5\n1 2\n1 3\n2 1\n4 2\n2 4\n", "7 3\n1 2\n3 1\n2 3\n"]
BY_N = "2 ≤ n ≤ 100, 1 ≤ m ≤ 100, 1 ≤ x_i, y_i ≤ n"


def test_a_limit_of_the_statement_replaces_one_that_chance_explains() -> None:
    _, found = ranges(BY_N, PAIRS)
    n, m, x, y = found
    assert [found[each] for each in (n, m)] == [Range(2, 100, is_stated=True), Range(1, 100, is_stated=True)]
    assert found[x] == found[y] == Range(1, 100, is_stated=True, limit=n)
    small = [list(map(int, each.text.split())) for each in made(BY_N, PAIRS)]
    assert all(max(numbers[2:], default=0) <= numbers[0] for numbers in small)
    assert any(max(numbers[2:], default=0) > numbers[1] for numbers in small)  # in given inputs it is at most m


def test_an_input_over_a_limit_is_known() -> None:
    form, found = ranges(BY_N, PAIRS)
    assert not over_limit(form, PAIRS[0], found)
    assert over_limit(form, "4 1\n1 5\n", found) == {list(found)[3]}


def test_numbers_stay_as_seen_and_within_a_limit_that_given_inputs_exceed() -> None:
    inputs = ["3 2\n1 4\n2 2\n", "5 1\n2 2\n"]
    found = made(BY_N, inputs)
    assert len(found) > 20
    for each in found:
        nodes, _, *ends = map(int, each.text.split())
        assert max(ends, default=0) <= min(nodes, 4)


def test_the_number_of_roots_is_no_number_below_the_bound() -> None:
    inputs = ["5\n3 1\n1 1\n-1 0\n2 1\n3 0\n", "8\n2 1\n-1 0\n1 0\n1 1\n1 1\n4 0\n5 1\n7 0\n"]
    _, found = ranges("1 ≤ n ≤ 100, 1 ≤ p_i ≤ n, 0 ≤ c_i ≤ 1", inputs)
    assert [(each.low, each.high) for each in found.values()] == [(1, 100), (-1, 100), (0, 1)]


def test_numbers_that_may_be_negative_are_bound_by_no_count() -> None:
    bounds, inputs = "1 ≤ n ≤ 9, -50 ≤ a_i ≤ 50", ["5\n1 5 2 2 4\n", "4\n3 0 3 1\n"]
    assert min(int(token) for each in made(bounds, inputs) for token in each.text.split()) < 0
    assert max(int(token) for each in made(bounds, inputs) for token in each.text.split()) > 9
