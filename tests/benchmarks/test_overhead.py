"""The fleet benchmark at a small size: every submission is answered, in each way of sending."""

from __future__ import annotations

import shutil

import pytest

from benchmarks import fleet

SUBMISSIONS = 64


@pytest.mark.redis  # in the processes that it starts
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_line_for_each_way_to_send(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fleet, "OVERHEAD_SUBMISSIONS", SUBMISSIONS)
    monkeypatch.setattr(fleet, "OVERHEAD_BATCH", 16)
    assert fleet.main(["overhead", "--rounds", "1"]) == 0
    _, _, *rows = capsys.readouterr().out.splitlines()
    names = [row.split(" | ")[0] for row in rows]
    assert names == ["| batches of 16", f"| batches of {SUBMISSIONS}", "| single POSTs, 64 at once"]
