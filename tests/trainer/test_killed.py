"""Somebody is killed in the middle of everything, and what is learnt is the same to the bit.

Trainer, vLLM and service, each by SIGKILL while a step samples, trains, syncs and saves. The trainer is started again
by the same command, the service by whoever watches it, vLLM by the trainer. What must be equal is each weight at the
end, and each step's figures.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.service_world import PROCTOR, free_port, running_service
from trainer import demo
from trainer.checkpoint import Checkpoints
from trainer.report import METRICS, read

STEPS = 6
MOMENTS = ("2:generate", "3:train", "4:sync", "5:save")
SECONDS = 600
SIGKILLED = -9
ROOT = Path(__file__).parents[2]
ONE_BY_ONE = ("--max-num-seqs", "1")  # to the bit: what is computed together is rounded together
OF_TIME = ("seconds", "tokens_a_second", "time", "share")  # figures that differ from run to run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    demo.warm_up(folder / "warm", seed=0)
    demo.write_problems(folder / "problems.jsonl")
    return folder


def configured(folder: Path, name: str, service: str, colocated: bool) -> Path:
    said = demo.settings(folder, service, colocated=colocated, samples=4, name=name, steps=STEPS, seed=0)
    said["rollout"] |= {"prompts": 8} | ({} if colocated else {"server_arguments": ONE_BY_ONE})
    said |= {"checkpoint": {"every": 1, "keep": 2, "resume": True}, "watch": {"tensorboard": False}}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(said))
    return path


def start(*program: str) -> tuple[int, str]:
    process = subprocess.run(
        [sys.executable, "-m", *program],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
    )
    return process.returncode, process.stdout.decode()


def outcome(run: Path) -> tuple[str, list[dict[str, Any]]]:
    """The weights' hash, and what was told of each step but its time."""
    weights = hashlib.sha256((run / "model" / "model.safetensors").read_bytes()).hexdigest()
    rows = [
        {name: row[name] for name in row if not any(each in name for each in OF_TIME)} for row in read(run / METRICS)
    ]
    return weights, rows


@pytest.fixture(scope="module")
def undisturbed(folder: Path, service: str) -> tuple[str, list[dict[str, Any]]]:
    status, said = start("trainer", str(configured(folder, "undisturbed", service, colocated=True)))
    assert status == 0, said
    return outcome(folder / "undisturbed")


def test_the_trainer_is_killed_and_started_again(folder: Path, service: str, undisturbed: Any) -> None:
    config = configured(folder, "trainer", service, colocated=True)
    for moment in MOMENTS:
        status, said = start("tests.trainer.killed", "trainer", moment, str(config))
        assert status == SIGKILLED, said
        assert f"at {moment}" in said
        for checkpoint in Checkpoints(folder / "trainer").all():
            assert not checkpoint.flaws()
    status, said = start("trainer", str(config))
    assert status == 0, said
    assert outcome(folder / "trainer") == undisturbed


def test_the_service_is_killed_and_started_again(folder: Path, undisturbed: Any) -> None:
    with watched_service(folder / "service.pid") as url:
        config = configured(folder, "service", url, colocated=True)
        status, said = start("tests.trainer.killed", str(folder / "service.pid"), ",".join(MOMENTS), str(config))
    assert status == 0, said
    assert all(f"at {moment}" in said for moment in MOMENTS)
    assert outcome(folder / "service") == undisturbed


@pytest.mark.skipif("PROCTOR_LONG" not in os.environ, reason="vLLM starts six times, three minutes: PROCTOR_LONG=1")
def test_vllm_is_killed_and_started_again(folder: Path, service: str) -> None:
    runs = []
    for name, moments in (("server", "0:never"), ("vllm", ",".join(MOMENTS))):
        config = configured(folder, name, service, colocated=False)
        status, said = start("tests.trainer.killed", "vllm", moments, str(config))
        assert status == 0, said
        runs.append(outcome(folder / name))
    assert all(f"at {moment}" in said for moment in MOMENTS)
    assert runs[0] == runs[1]


@contextmanager
def watched_service(pid: Path) -> Iterator[str]:
    """One that somebody starts again whenever it died, as systemd and Kubernetes do."""
    with running_service():  # skips, saying why, where there cannot be one
        pass
    port, ended = free_port(), threading.Event()

    def watch() -> None:
        while not ended.is_set():
            process = subprocess.Popen([PROCTOR, "serve", "--port", str(port)], env=os.environ | {"SANDBOX_SLOTS": "2"})
            pid.write_text(str(process.pid))
            while process.poll() is None and not ended.wait(0.1):
                pass
            process.terminate()
            process.wait(60)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        while not pid.exists():
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        ended.set()
        watcher.join()
