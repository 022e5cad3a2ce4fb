"""Tests that a checkpoint is complete or absent after crashes and on full disks."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainer.checkpoint import MANIFEST, Checkpoints

WRITER = """
import sys, time
from pathlib import Path
from trainer.checkpoint import Checkpoints

def fill(folder):
    for number in range(40):
        (folder / f"part-{number}").write_bytes(b"x" * 50_000)
        print(number, flush=True)

checkpoints = Checkpoints(Path(sys.argv[1]), keep=2)
for step in range(1, 1000):
    checkpoints.write(step, {"step": step}, fill)
"""


def fill(folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "weights").write_bytes(b"weights")


def steps(checkpoints: Checkpoints) -> list[int]:
    return [each.step for each in checkpoints.all()]


def test_what_was_written_is_there(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.write(7, {"place": [1, 0.1]}, fill)
    newest = checkpoints.newest(print)
    assert newest is not None
    assert (newest.step, newest.path.name, newest.state()) == (7, "step_000007", {"place": [1, 0.1]})
    assert (newest.path / "model" / "weights").read_bytes() == b"weights"
    said = json.loads((newest.path / MANIFEST).read_text())
    assert said["files"]["model/weights"] == {"bytes": 7}


def test_the_newest_are_kept_and_those_at_round_steps(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2, keep_every=4)
    for step in range(1, 12):
        checkpoints.write(step, {}, fill)
    assert steps(checkpoints) == [4, 8, 10, 11]


def test_none_is_none(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path).newest(print) is None


@pytest.mark.parametrize("harm", ["cut", "gone", "longer"])
def test_what_is_not_as_it_was_written_is_passed_over(tmp_path: Path, harm: str) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2):
        checkpoints.write(step, {}, fill)
    weights = tmp_path / "checkpoints" / "step_000002" / "model" / "weights"
    weights.unlink()
    if harm != "gone":
        weights.write_bytes({"cut": b"wei", "longer": b"weights!"}[harm])
    said: list[str] = []
    newest = checkpoints.newest(said.append)
    assert newest is not None
    assert newest.step == 1
    assert "model/weights" in said[0]


@pytest.mark.parametrize("when", ["begun", "filled"])
def test_a_disk_that_is_full_leaves_the_older_ones(tmp_path: Path, when: str) -> None:
    def full(folder: Path) -> None:
        if when == "filled":
            fill(folder)
        raise OSError(errno.ENOSPC, "no space left on device")

    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.write(1, {}, fill)
    with pytest.raises(OSError, match="no space"):
        checkpoints.write(2, {}, full)
    assert steps(checkpoints) == [1]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step_000001"]


def test_one_of_the_same_step_is_replaced(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.write(1, {"is": "old"}, fill)
    checkpoints.write(1, {"is": "new"}, fill)
    newest = checkpoints.newest(print)
    assert newest is not None
    assert newest.state() == {"is": "new"}


def test_whenever_the_writer_is_killed_what_has_a_name_is_whole(tmp_path: Path) -> None:
    """Twenty times, at other moments: while it writes, renames and removes."""
    found = 0
    for number in range(20):
        run = tmp_path / str(number)
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(run)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(1 + 7 * number):  # of 40 lines a checkpoint: by progress, because a busy machine writes slowly
            process.stdout.readline()
        time.sleep(0.002 * number)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        for each in Checkpoints(run).all():
            assert each.damaged_files() == []
            assert each.state() == {"step": each.step}
            found += 1
        Checkpoints(run, keep=9).write(5000, {"step": 5000}, fill)
        assert not list((run / "checkpoints").glob("*.tmp")), "what was not finished is removed"
        shutil.rmtree(run)
    assert found, "none was finished"
