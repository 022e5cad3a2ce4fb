"""The batch with endless programs at a small size: each answer has the verdict that its program is made for."""

from __future__ import annotations

import pytest

from benchmarks import endless
from tests import markers
from tests.conftest import need_firejail


@pytest.mark.full
@markers.needs("jail")
def test_each_answer_is_judged_as_it_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    need_firejail()
    assert endless.main(["--problems", "3", "--answers", "4", "--tests", "3", "--rows", "followed,shared"]) == 0
    printed = capsys.readouterr().out
    assert "12 answers to 3 problems with 3 tests, 1 of them endless" in printed
    assert printed.count("| 0 |") == 2
