"""The comparison of contenders at a small size: the grader and the service start, and tell right from spoiled tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import measure, run
from benchmarks.remote import Remote
from tests import markers
from tests.conftest import need_firejail

CONTENDERS = ["fork_limit", "proctor_shared", "proctor_http"]


@pytest.mark.full
@markers.needs("jail")
def test_the_grader_and_the_service_are_measured(tmp_path: Path) -> None:
    need_firejail()
    arguments = ["--contenders", ",".join(CONTENDERS), "--workloads", "stdin10", "--rounds", "1", "--quick"]
    assert run.main([*arguments, "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "results.json").read_text())["rows"]
    assert {row["contender"] for row in rows} == set(CONTENDERS)
    assert not any(row["rejected"] for row in rows)


def test_a_contender_that_fails_to_start_is_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Remote) -> None:
        raise RuntimeError(f"{self.name}: TypeError: f() takes 1 positional argument but 2 were given")

    monkeypatch.setattr(Remote, "start", fail)
    with pytest.raises(RuntimeError, match="fork_limit: TypeError"), measure.started(["fork_limit"]):
        pass
