"""The CPU time that a hostile answer costs the trusted side is bounded by its size, for each benchmark family."""

from __future__ import annotations

import pytest

from benchmarks.hostile_answers import MIB, Family, families, seconds

# Every family takes well under a tenth of this. What is not linear takes minutes.
MOST_SECONDS = 3.0
SIZE = MIB // 2


@pytest.mark.parametrize("family", list(families()), ids=lambda family: family.id)
def test_no_answer_is_dear(family: Family) -> None:
    assert seconds(family, SIZE) < MOST_SECONDS
