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
from typing import Any

import pytest

from trainer.checkpoint import LOCK, MANIFEST, Checkpoints, find_checkpoint, locked, read_groups, write_groups
from trainer.config import Config, resolve
from trainer.episode import Prompt
from trainer.errors import ConfigError

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
    Checkpoints(tmp_path, keep=1).write(2, {}, fill)
    assert [each.damaged_files() for each in checkpoints.all()] == [[]], "it is replaced"


def test_a_damaged_one_is_not_among_those_that_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.write(30, {}, fill)
    (tmp_path / "checkpoints" / "step_000030" / MANIFEST).write_text("")
    said: list[str] = []
    assert checkpoints.newest(said.append) is None
    assert MANIFEST in said[0]
    checkpoints.write(20, {}, fill)
    assert steps(checkpoints) == [20]


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


def configured(folder: Path, **said: Any) -> Config:
    return resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "name": "r", "out": str(folder)} | said)


def written(folder: Path, *, has_groups: bool = True, **said: Any) -> Checkpoints:
    def fill_all(into: Path) -> None:
        fill(into)
        if has_groups:
            write_groups(into, [])

    checkpoints = Checkpoints((config := configured(folder, **said)).folder)
    checkpoints.write(1, {"ranks": 1, "config": config.model_dump(mode="json")}, fill_all)
    return checkpoints


RESUMED: dict[str, Any] = {"checkpoint": {"resume": True}}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("seed", {"seed": 1}),
        ("lora.rank", {"lora": {"rank": 4}}),
        ("data.system", {"data": {"train": ["d"], "system": "Be brief."}}),
        ("data.template.a", {"data": {"train": ["d"], "template": {"a": 1}}}),
        ("rollout.temperature", {"rollout": {"temperature": 0.6}}),
        ("deepspeed.zero", {"deepspeed": {"zero": 1}}),
        ("model.dtype", {"model": {"path": "m", "dtype": "float32"}}),
    ],
)
def test_a_run_is_not_resumed_with_what_its_samples_depend_on_changed(
    tmp_path: Path, name: str, said: dict[str, Any]
) -> None:
    written(tmp_path)
    with pytest.raises(ConfigError, match=f"{name} was .* and is"):
        find_checkpoint(configured(tmp_path, **RESUMED, **said), 1)


def test_a_run_is_resumed_with_other_steps_and_rates(tmp_path: Path) -> None:
    written(tmp_path)
    found = find_checkpoint(configured(tmp_path, **RESUMED, steps=9, optimiser={"lr": 1e-5}), 1)
    assert found is not None
    with pytest.raises(ConfigError, match="ranks was 1 and is 2"):
        find_checkpoint(configured(tmp_path, **RESUMED), 2)


@pytest.mark.parametrize(
    ("name", "content"), [("state.json", b"{"), ("groups.pickle", b"\x80"), ("groups.pickle", b"")]
)
def test_content_that_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes) -> None:
    """Of the size that the manifest has."""
    (saved,) = written(tmp_path).all()
    (saved.path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=r"step_000001 is damaged: remove it to go on from the checkpoint before it"):
        saved.state() if name == "state.json" else read_groups(saved.path, lambda _: Prompt("", (), {}))


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ConfigError, match=r"file/run cannot be written: Not a directory"),
        locked(tmp_path / "file" / "run" / LOCK),
    ):
        pass


def test_a_checkpoint_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    written(tmp_path, has_groups=False)
    with pytest.raises(ConfigError, match=r"step_\d+ is of an earlier version: start a new run from its folder model"):
        find_checkpoint(configured(tmp_path, **RESUMED), 1)


def test_a_run_does_not_begin_over_checkpoints(tmp_path: Path) -> None:
    checkpoints = written(tmp_path)
    with pytest.raises(ConfigError, match="already holds a run"):
        find_checkpoint(configured(tmp_path), 1)
    (checkpoints.all()[0].path / "model" / "weights").unlink()
    with pytest.raises(ConfigError, match="are damaged"):
        find_checkpoint(configured(tmp_path, **RESUMED), 1)
    assert find_checkpoint(configured(tmp_path / "new", **RESUMED), 1) is None


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
