"""The CPU time that a hostile answer costs the trusted side is bounded by its size, for each benchmark family."""

from __future__ import annotations

import pytest

from benchmarks.hostile_answers import MIB, Family, families, seconds
from tests.markers import one_in

# Every family takes well under a fifth of this. What is not linear takes more than a second.
MOST_SECONDS = 1.0
SIZE = MIB // 2


@pytest.mark.parametrize("family", one_in(5, families()), ids=lambda family: family.id)
def test_no_answer_is_dear(family: Family) -> None:
    assert seconds(family, SIZE) < MOST_SECONDS
