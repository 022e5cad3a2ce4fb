"""The rule of `benchmarks mixed` tells a leak of some hundred bytes for each submission from a plateau that varies."""

from __future__ import annotations

import random

import pytest

from benchmarks.mixed import PARTS, Row, _judge
from benchmarks.soak import Inventory

MB = 1_000_000


def rows(submissions: int, leaked_bytes: int) -> list[Row]:
    """Return the parts of a run whose memory varies by 2 MB."""
    draw, each = random.Random(1), submissions // PARTS
    found = []
    for part in range(PARTS):
        resident = 400 * MB + draw.randrange(2 * MB) + leaked_bytes * each * (part + 1)
        found.append(Row(each, 250.0, 4.0, 0, Inventory(20, resident, 200, 10, 0, 0, 0, 0)))
    return found


@pytest.mark.parametrize("submissions", [60_000, 200_000])
def test_a_plateau_that_varies_passes(submissions: int) -> None:
    assert _judge(rows(submissions, 0)) == 0


@pytest.mark.parametrize("submissions", [60_000, 200_000])
def test_a_leak_of_some_hundred_bytes_fails(submissions: int) -> None:
    assert _judge(rows(submissions, 300)) == 1
