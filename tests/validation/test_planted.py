"""Defects planted into good problems are found, by their right names, and what was left alone is not accused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.conftest import need_firejail
from tests.validation import planted
from tests.validation.world import sums, words


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What was found in two good problems, as they are and with every defect; graded in real jails."""
    need_firejail()
    good = [sums(), words()]
    folder: Path = tmp_path_factory.mktemp("planted")
    untouched = asyncio.run(planted.findings(good, folder / "good"))
    others = list(planted.planted(good))
    return untouched | asyncio.run(planted.findings(others, folder / "bad", good, measured_seconds=0.5))


@pytest.mark.parametrize("name", planted.DEFECTS)
def test_a_defect_is_found(found: dict[str, list[str]], name: str) -> None:
    seen = {each: set(names) for each, names in found.items() if each.startswith(f"{name}:")}
    assert seen
    for each, names in seen.items():
        assert names & planted.DEFECTS[name][1], each


def test_what_is_good_is_left_alone(found: dict[str, list[str]]) -> None:
    assert [found[each] for each in ("sums", "words")] == [[], []]
