"""Long JSON made of lists is compared by its text with the same verdict as by its values."""

from __future__ import annotations

import json
import random
import time

import pytest

from sandbox_service.judging import flat_json
from sandbox_service.judging.values import check_value, parsed_quickly, rules_of
from sandbox_service.schema import Checker

CHECKER = Checker(type="json", float_tolerance=1e-6, ignore_case=True)
SCALARS = ["1", "1.0", "0", "-0.0", "true", "null", "0.5", "0.5000001", '"a"', '"A"', '"a,b"', '"\\u0061"', '"é"']
PIECES = ["[", "]", ",", "1", " ", "0", '"', "[]", "1,", "],[", "null", "\\", ":", "{}", "1 2"]


def compare(got: str, expected: str) -> flat_json.Comparison | None:
    return flat_json.compare(rules_of(CHECKER), got.encode(), expected.encode(), parsed_quickly)


@pytest.fixture(autouse=True)
def any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat_json, "LEAST_BYTES", 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_verdict_is_that_of_the_values(seed: int) -> None:
    draw = random.Random(seed)
    decided = 0
    for _ in range(500):
        value = [_tree(draw, 4) for _ in range(draw.randrange(1, 4))]
        expected, got = _written(draw, value), _changed(draw, _written(draw, value))
        found = compare(got, expected)
        if found is not None:
            decided += 1
            assert (found.reason is None) == _is_right(got, expected), (got, expected, found)
    assert decided > 100


@pytest.mark.parametrize(
    ("got", "expected", "reason"),
    [
        ("[[1], [2, [3]]]", "[[1], [2, [4]]]", "at [1][1][0]: got 3, expected 4"),
        ("[[], [[], 5]]", "[[], [[], 6]]", "at [1][1]: got 5, expected 6"),
        ("[[1, 2], [3]]", "[[1], [2, 3]]", "at [0][0]: got another element, expected the end of a list"),
        ("[[[1]]]", "[[1]]", "at [0][0]: got a list, expected a value"),
        ("[[1], [2]", "[[1], [2]]", "at [1]: got the end, expected the end of a list"),
    ],
)
def test_the_reason_has_the_place(got: str, expected: str, reason: str) -> None:
    found = compare(got, expected)
    assert found is not None
    assert found.reason == reason


@pytest.mark.parametrize(
    "text",
    ['[{"a": 1}]', "[1, 2" + ", 3" * 40 + "]", '["[", ["]"]]', "[" * 2000 + "]" * 2000, "[[1]", "[1],[2]", "[[1][2]]"],
)
def test_other_texts_are_left_to_parsers(text: str) -> None:
    assert compare(text, text) is None


def test_a_deep_difference_among_many_lists_is_found_soon() -> None:
    levels, count = 40, 2000

    def value(leaf: float) -> object:
        for _ in range(levels):
            leaf = [leaf]  # type: ignore[assignment]
        return [leaf] * count

    same, near = value(1.5), value(1.5000001)
    began = time.process_time()
    assert check_value(CHECKER, near, same) is None
    assert time.process_time() - began < 1.0


def _is_right(got: str, expected: str) -> bool:
    try:
        return check_value(CHECKER, json.loads(got), json.loads(expected)) is None
    except ValueError:
        return False


def _tree(draw: random.Random, depth: int) -> object:
    if depth == 0 or draw.random() < 0.25:
        return draw.choice(SCALARS)
    return [_tree(draw, depth - 1) for _ in range(draw.choice([0, 1, 1, 2, 3]))]


def _written(draw: random.Random, tree: object) -> str:
    if isinstance(tree, str):
        return tree
    assert isinstance(tree, list)
    blanks = draw.choices(["", "", " ", "\n"], k=4)
    inside = f"{blanks[0]},{blanks[1]}".join(_written(draw, each) for each in tree)
    return f"[{blanks[2]}{inside}{blanks[3]}]"


def _changed(draw: random.Random, text: str) -> str:
    place, kind = draw.randrange(len(text) + 1), draw.random()
    if kind < 0.4:
        return text
    if kind < 0.7:
        return text[:place] + draw.choice(PIECES) + text[place:]
    return text[:place] + text[place + draw.randrange(1, 4) :]
