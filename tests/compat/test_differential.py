"""Every compatibility route returns the same verdict as the native route; see `differential`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.compat import differential
from tests.conftest import Service

MOST = int(os.environ.get("PROCTOR_PAIRS", "200"))


@pytest.mark.parametrize("count", [25, pytest.param(MOST, marks=pytest.mark.full)])
def test_whichever_way_it_is_asked_the_verdict_is_the_same(service: Service, count: int) -> None:
    folder = Path(os.environ.get("PROCTOR_DATA", Path(__file__).parents[3] / "shared" / "data"))
    wanted = differential.pairs(count, folder if folder.is_dir() else None)
    lines, counts = differential.differences(service, wanted)
    print(f"{len(wanted)} pairs: {dict(counts)}", *lines, sep="\n")
    assert not lines, "\n".join(lines)
    assert len(wanted) == count
    assert min(counts["passed"], counts["failed"]) > count / 10
    assert all(counts[name] > count / 10 for name in differential.ROUTES)
