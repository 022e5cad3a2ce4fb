"""Planted defects are found under the right names, and unchanged problems are clean."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandbox_service.formats.problem import Problem
from tests.conftest import need_firejail
from tests.validation import planted
from tests.validation.world import STORY, sums, words


def halves() -> Problem:
    """Splits a list into two, with call tests."""
    lists = [[1, 2, 3, 4], [5], [], [7, 8, 9], [2, 2], [3, 1, 4, 1, 5]]
    halved = [[each[: len(each) // 2], each[len(each) // 2 :]] for each in lists]
    pairs = zip(lists, halved, strict=True)
    tests = [{"type": "call", "function": "halves", "args": [whole], "output": two} for whole, two in pairs]
    code = "def halves(loaves):\n    middle = len(loaves) // 2\n    return [loaves[:middle], loaves[middle:]]"
    asked = f"{STORY}Write a function `halves` that cuts a list of loaves into two, the second one not the shorter."
    return sums(id="halves", prompt=asked, tests=tests, solutions=[{"code": code}])


def longest() -> Problem:
    """The longest words, with a test program."""
    tests = """def check(candidate):
    assert candidate(['rye', 'oat', 'barley']) == ['barley']
    assert candidate(['rye', 'oat']) == ['rye', 'oat']
    assert candidate([]) == []
    assert candidate(['a', 'bc', 'd', 'ef']) == ['bc', 'ef']
    assert candidate(['wheat']) == ['wheat']

check(longest)
"""
    code = "def longest(names):\n    top = max(map(len, [*names, '']))\n    return [n for n in names if len(n) == top]"
    asked = "Of the grains in a list, return those with the longest names, in the order in which they stand there."
    test = {"type": "assert", "code": tests, "entry_point": "longest"}
    return sums(id="longest", prompt=asked, tests=[test], solutions=[{"code": code}])


GOOD = (words, halves, longest)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Findings of good problems, unchanged and with every defect, graded in real jails."""
    need_firejail()
    good = [each() for each in GOOD]
    folder: Path = tmp_path_factory.mktemp("planted")
    untouched = asyncio.run(planted.findings(good, folder / "good"))
    others = list(planted.planted(good))
    return untouched | asyncio.run(planted.findings(others, folder / "bad", good, measured_seconds=0.5))


@pytest.mark.parametrize("name", planted.DEFECTS)
def test_a_defect_is_found(found: dict[str, list[str]], name: str) -> None:
    seen = {each: set(names) for each, names in found.items() if each.startswith(f"{name}:")}
    assert {f"{name}:{each}" for each in (form.__name__ for form in GOOD)} <= seen.keys()
    for each, names in seen.items():
        assert names & planted.DEFECTS[name][1], each


def test_what_is_good_is_left_alone(found: dict[str, list[str]]) -> None:
    assert {name: names for name, names in found.items() if ":" not in name and names} == {}
