"""Tests of exact proportions of sources, and of their checkpoints."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from trainer.config.sections import Data
from trainer.data import Problems
from trainer.errors import ConfigError
from trainer.mixture import Mixture

TESTS = [{"type": "stdin", "output": "2"}]
SIZES = {"code": 7, "math": 3, "text": 5}


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    """Three sources; a problem is as hard as its number is great. `text` has no name but its file's."""
    for source, size in SIZES.items():
        lines = [
            {"id": f"{source}{each}", "prompt": "p", "tests": TESTS, "difficulty": each / size}
            | ({} if source == "text" else {"source": source})
            for each in range(size)
        ]
        (tmp_path / f"{source}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return Problems([tmp_path / f"{source}.jsonl" for source in SIZES])


def mixture(problems: Problems, order: Any = "shuffled", seed: int = 0) -> Mixture:
    return Mixture(problems, seed, order)


def taken(mix: Mixture, count: int) -> list[str]:
    return [problem.id for problem in mix.take(count)]


def source(name: str) -> str:
    return name.rstrip("0123456789")


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_met_after_every_prompt(problems: Problems, seed: int) -> None:
    draw = random.Random(seed)
    shares = {name: draw.choice([0.5, 0.2, 0.3, 1, 7, 0.01, 0.333]) for name in SIZES}
    mix, had = mixture(problems), Counter[str]()
    mix.select(shares, None)
    total = sum(Fraction(repr(share)) for share in shares.values())
    for count in range(1, 301):
        had[source(taken(mix, 1)[0])] += 1
        for name, share in shares.items():
            wanted = Fraction(repr(share)) / total * count
            assert abs(had[name] - wanted) < 1, (name, count, had)


def test_each_source_has_its_own_epochs(problems: Problems) -> None:
    mix = mixture(problems)
    mix.select({"code": 0.5, "math": 0.5, "text": 0}, None)
    got = taken(mix, 28)
    by_source = {name: [each for each in got if source(each) == name] for name in SIZES}
    assert {name: len(each) for name, each in by_source.items()} == {"code": 14, "math": 14, "text": 0}
    assert sorted(by_source["code"][:7]) == sorted(by_source["code"][7:]) == [f"code{each}" for each in range(7)]
    assert Counter(by_source["math"][:12]) == {f"math{each}": 4 for each in range(3)}


def test_without_shares_an_epoch_has_all(problems: Problems) -> None:
    got = taken(mixture(problems), 30)
    assert (
        sorted(got[:15])
        == sorted(got[15:])
        == sorted(f"{name}{n}" for name, size in SIZES.items() for n in range(size))
    )


def test_only_what_is_as_hard_as_wanted(problems: Problems) -> None:
    mix = mixture(problems)
    mix.select({}, (0.3, 0.6))
    wanted = {"code3", "code4", "math1", "text2", "text3"}
    assert Counter(taken(mix, 15)) == dict.fromkeys(wanted, 3)
    mix.select({"code": 0, "math": 1, "text": 0}, (2 / 3, 1.0))
    assert set(taken(mix, 4)) == {"math2"}


def test_a_curriculum_goes_on_where_it_is(problems: Problems) -> None:
    mix = mixture(problems, "file")
    mix.select({}, (0.0, 0.2))
    assert taken(mix, 3) == ["code0", "code1", "math0"]
    mix.select({}, (0.5, 1.0))
    assert taken(mix, 4) == ["math2", "text3", "text4", "code4"], "from math0 on, into the next epoch"


def test_the_easiest_come_first_in_every_epoch(problems: Problems) -> None:
    got = mixture(problems, "easiest_first").take(30)
    hard = [int(problem.id[4:]) / SIZES[source(problem.id)] for problem in got]
    assert hard[:15] == hard[15:] == sorted(hard[:15])
    assert all(before <= after for before, after in pairwise(hard[:15]))


def test_other_shares_count_from_when_they_hold(problems: Problems) -> None:
    mix = mixture(problems)
    mix.select({"code": 1, "math": 0, "text": 0}, None)
    mix.take(50)
    mix.select({"code": 1, "math": 1, "text": 0}, None)
    assert Counter(map(source, taken(mix, 10))) == {"code": 5, "math": 5}, "math need not make up for what it missed"


def test_another_difficulty_leaves_the_counts_as_they_are(problems: Problems) -> None:
    mix, had = mixture(problems), Counter[str]()
    for number in range(40):
        mix.select({"code": 0.75, "math": 0.25, "text": 0}, (0.0, 0.9 + number / 1000))
        had[source(taken(mix, 1)[0])] += 1
    assert had == {"code": 30, "math": 10}


def test_the_same_choice_again_changes_nothing(problems: Problems) -> None:
    one, other = mixture(problems), mixture(problems)
    shares = {"code": 0.6, "math": 0.3, "text": 0.1}
    one.select(shares, None)
    for _ in range(20):
        other.select(shares, None)
        other.take(1)
    one.take(20)
    assert taken(one, 20) == taken(other, 20)


@pytest.mark.parametrize("before", [0, 1, 7, 23, 40])
@pytest.mark.parametrize("order", ["shuffled", "file", "easiest_first"])
def test_what_is_restored_goes_on_as_it_would_have(problems: Problems, before: int, order: str) -> None:
    """In the middle of a stage and of the epoch of each source, and then into the next stage."""
    stages: list[tuple[dict[str, float], tuple[float, float] | None]] = [
        ({}, None),
        ({"code": 0.6, "math": 0.3, "text": 0.1}, (0.0, 0.7)),
        ({"code": 1, "math": 1, "text": 0}, None),
    ]
    one, other = mixture(problems, order), mixture(problems, order)
    for shares, difficulty in stages[:2]:
        one.select(shares, difficulty)
        one.take(before)
    other.select(*stages[0])
    other.restore(json.loads(json.dumps(one.state())))
    other.select(*stages[1])
    assert taken(other, 31) == taken(one, 31)
    for each in (one, other):
        each.select(*stages[2])
    assert taken(other, 31) == taken(one, 31)


def test_it_is_not_restored_over_other_problems(problems: Problems, tmp_path: Path) -> None:
    state = mixture(problems).state()
    lines = [json.loads(line) for line in (tmp_path / "code.jsonl").read_text().splitlines()]
    lines[0]["difficulty"] = 0.9
    (tmp_path / "code.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    changed = Problems([tmp_path / f"{name}.jsonl" for name in SIZES])
    with pytest.raises(ConfigError, match="differ from those of the checkpoint"):
        mixture(changed).restore(state)


@pytest.mark.parametrize(
    ("shares", "difficulty", "said"),
    [
        ({"cod": 1}, None, "no source 'cod'; there are code, math, text"),
        ({"code": 1, "math": 1}, None, "'text' is not named: give it a share, 0 to leave it out"),
        ({"code": 1, "math": 1, "text": 0}, (0.9, 1.0), "no problem of 'code' is from 0.9 to 1.0"),
        ({}, (0.95, 1.0), "no problem"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_changes_nothing(
    problems: Problems, shares: dict[str, float], difficulty: tuple[float, float] | None, said: str
) -> None:
    mix, untouched = mixture(problems), mixture(problems)
    for choice in (mix.check, mix.select):
        with pytest.raises(ConfigError, match=said):
            choice(shares, difficulty)
    assert taken(mix, 20) == taken(untouched, 20)


def test_a_difficulty_that_is_not_said_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"id": "a", "prompt": "p", "tests": TESTS}))
    problems = Problems([path])
    with pytest.raises(ConfigError, match=r'd\.jsonl:1: data\.difficulty needs a "difficulty" on this line'):
        mixture(problems).select({}, (0.0, 1.0))
    with pytest.raises(ConfigError, match=r"easiest_first.*needs a"):
        mixture(problems, "easiest_first")


@pytest.mark.parametrize("shares", [{"a": 0}, {"a": -1, "b": 2}, {"a": float("inf")}, {"a": float("nan")}])
def test_shares_are_numbers(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="mixture"):
        Data(train=("d",), mixture=shares)
