"""Tests that an example leaves no processes behind, and that two runs do not share a folder."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from examples import running, update
from examples.tiny import tiny_model, tiny_tokenizer
from tests.trainer.parents import child_after, is_alive, wait_until
from trainer.errors import ConfigError


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_what_it_started_ends_with_it(tmp_path: Path, number: int) -> None:
    child = child_after("example", tmp_path / "pid", number)
    wait_until(lambda: not is_alive(child))


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


def test_optimiser_steps_are_measured_beside_their_plan(tmp_path: Path) -> None:
    tiny_model(tiny_tokenizer()).save_pretrained(tmp_path / "model")
    own = [f"model.path={tmp_path / 'model'}", "model.dtype=float32", "data.max_prompt_tokens=16"]
    own += ["rollout.max_tokens=100", "optimiser.micro_tokens=2048", "rollout.turns=false", "rollout.replicas=1"]
    command = [sys.executable, "-m", update.__name__, "aspo_1.5b", *own, "--steps", "1"]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    rows = [line.split(": ")[0] for line in said.splitlines() if "tokens/s" in line]
    assert rows == ["2 rows of 1,024 tokens", "1 row of 116 tokens"]
    assert "plan: 0.0 GB of weights and states" in said
