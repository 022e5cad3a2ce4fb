"""Tests that an example leaves no processes behind, and that two runs do not share a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from examples import running
from trainer.errors import ConfigError

ROOT = Path(__file__).parents[2]
SECONDS = 120
CHILD = "import os, sys, time; print(os.getpid(), flush=True); time.sleep(600)"
PARENT = f"""
import sys, time
from examples import running
with running.guarded([sys.executable, "-c", {CHILD!r}]):
    time.sleep(600)
"""


def waits_for(is_done: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while not is_done() and time.monotonic() < end:
        time.sleep(0.05)
    return is_done()


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_what_it_started_ends_with_it(number: int) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child)
        os.kill(parent.pid, number)
        assert waits_for(lambda: not is_alive(child))
    finally:
        parent.kill()
        parent.communicate()


def test_a_process_is_waited_for_if_that_is_wanted(tmp_path: Path) -> None:
    program = f"import pathlib, time; time.sleep(0.2); pathlib.Path({str(tmp_path / 'done')!r}).touch()"
    with running.guarded([sys.executable, "-c", program], waits=True):
        pass
    assert (tmp_path / "done").exists()


def test_a_folder_is_for_one_run_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "more" / "train"
    with running.locked(folder):
        (folder / "old").touch()
        with pytest.raises(ConfigError, match="another run uses"), running.locked(folder):
            pass
        assert (folder / "old").exists()
    with running.locked(folder):
        assert not list(folder.iterdir())


def test_a_service_that_ends_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("why it ended")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with pytest.raises(ConfigError, match="why it ended"):
        running._wait_until_ready(process, "http://127.0.0.1:9", tmp_path / "log")
