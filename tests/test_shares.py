"""The shares of tables that `make test` runs: they are even, and nothing is left out for ever."""

from __future__ import annotations

from _pytest.mark import ParameterSet

from tests.markers import crosswise, one_in

SHAPES = "abcdefg"


def kept(parameters: list[ParameterSet]) -> list[tuple[object, ...]]:
    """Return those that `make test` runs."""
    return [tuple(each.values) for each in parameters if not each.marks]


def test_one_in_three_is_the_first_and_each_third_after_it() -> None:
    every = one_in(3, SHAPES)
    assert [each.values for each in every] == [(shape,) for shape in SHAPES]
    assert kept(every) == [("a",), ("d",), ("g",)]
    assert {mark.name for each in every for mark in each.marks} == {"full"}


def test_crosswise_each_thing_has_one_of_the_others_and_these_take_turns() -> None:
    every = crosswise(SHAPES, (1, 2, 3))
    assert [each.values for each in every] == [(shape, other) for shape in SHAPES for other in (1, 2, 3)]
    assert kept(every) == [("a", 1), ("b", 2), ("c", 3), ("d", 1), ("e", 2), ("f", 3), ("g", 1)]
