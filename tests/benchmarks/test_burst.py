"""The burst at a small size: every answer has the verdict that its program is made for, in each way that is there."""

from __future__ import annotations

import pytest

from benchmarks import burst
from tests import markers
from tests.conftest import need_firejail


@pytest.mark.full
@markers.needs("jail")
def test_all_tests_of_all_answers_are_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    need_firejail()
    monkeypatch.delenv("BENCH_VERL", raising=False)
    monkeypatch.setattr(burst, "WRONG", 10)
    assert burst.main(["--submissions", "40", "--tests", "3", "--sample", "10"]) == 0
    printed = capsys.readouterr().out
    assert "prime_code is skipped: BENCH_VERL names no folder with verl" in printed
    rows = [line.split(" | ") for line in printed.splitlines() if line.startswith(("| proctor", "| in-process"))]
    assert [row[1:3] for row in rows] == [["40", "120"], ["10", "30"]]
    proctor, in_process = ([float(cell) for cell in row[4:13]] for row in rows)
    assert all(figure > 0 for figure in proctor)
    assert in_process[1:3] == [0, 0]  # it has no API and no slots
    assert in_process[3] > 0
