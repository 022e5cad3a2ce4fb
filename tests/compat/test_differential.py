"""Every foreign route gives the verdict that the native one gives; see `differential` for how they are asked."""

from __future__ import annotations

import os
from pathlib import Path

from tests.compat import differential
from tests.conftest import Service

PAIRS = 2000 if "PROCTOR_LONG" in os.environ else 200


def test_whichever_way_it_is_asked_the_verdict_is_the_same(service: Service) -> None:
    folder = Path(os.environ.get("PROCTOR_DATA", Path(__file__).parents[3] / "shared" / "data"))
    wanted = differential.pairs(PAIRS, folder if folder.is_dir() else None)
    lines, counts = differential.differences(service, wanted)
    print(f"{len(wanted)} pairs: {dict(counts)}", *lines, sep="\n")
    assert not lines, "\n".join(lines)
    assert len(wanted) == PAIRS
    assert min(counts["passed"], counts["failed"]) > PAIRS / 10
    assert all(counts[name] > PAIRS / 10 for name in differential.ROUTES)
