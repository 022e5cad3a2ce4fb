"""Tests that runs with killed processes end with the same weights, bit for bit.

Trainer, vLLM and service are each killed by SIGKILL while a step samples, trains, syncs and saves. The trainer is
restarted by the same command, the service by its supervisor, vLLM by the trainer. All final weights and all figures of
each step must be equal.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from examples import arithmetic, duel
from examples.tiny import warm_up
from tests.ports import free_port
from tests.trainer.launcher import Ended, launch
from tests.trainer.service_world import PROCTOR, need_service
from trainer import rollouts
from trainer.checkpoint import Checkpoints
from trainer.report import METRICS, read

pytestmark = pytest.mark.vllm  # in the processes that it starts

STEPS = 6
MOMENTS = ("2:generate", "3:train", "4:sync", "5:save")
SECONDS = 1800  # a guard against hanging
SIGKILLED = -9
AHEAD = {"depth": 1, "in_flight": "finish"}
ONE_BY_ONE = ("--max-num-seqs", "1")  # to the bit: what is computed together is rounded together
OF_TIME = ("seconds", "tokens_a_second", "time", "share")  # figures that differ from run to run


@pytest.fixture(scope="module")
def folder(warm: Path) -> Path:
    return warm


def configured(folder: Path, name: str, service: str, colocated: bool, **more: Any) -> Path:
    said = arithmetic.settings(folder, service, colocated=colocated, samples=4, name=name, steps=STEPS, seed=0)
    said["rollout"] |= {"prompts": 8} | ({} if colocated else {"server_arguments": ONE_BY_ONE})
    said |= {"checkpoint": {"every": 1, "keep": 2, "resume": True}, "watch": {"tensorboard": False}}
    said["rollout"] |= more.pop("rollout", {})
    said |= more
    path = folder / f"{name}.json"
    path.write_text(json.dumps(said))
    return path


def start(module: str, *arguments: str) -> Ended:
    return launch(module, arguments, SECONDS)


def outcome(run: Path) -> tuple[str, list[dict[str, Any]]]:
    """The weights' hash, and what was told of each step but its time."""
    weights = hashlib.sha256((run / "model" / "model.safetensors").read_bytes()).hexdigest()
    rows = [
        {name: row[name] for name in row if not any(each in name for each in OF_TIME)} for row in read(run / METRICS)
    ]
    return weights, rows


@pytest.fixture(scope="module")
def undisturbed(folder: Path, service: str) -> tuple[str, list[dict[str, Any]]]:
    status, said = start("trainer.__main__", str(configured(folder, "undisturbed", service, colocated=True)))
    assert status == 0, said
    return outcome(folder / "undisturbed")


def test_the_trainer_is_killed_and_started_again(folder: Path, service: str, undisturbed: Any) -> None:
    config = configured(folder, "trainer", service, colocated=True)
    for moment in MOMENTS:
        status, said = start("tests.trainer.killed", "trainer", moment, str(config))
        assert status == SIGKILLED, said
        assert f"at {moment}" in said
        for checkpoint in Checkpoints(folder / "trainer").all():
            assert not checkpoint.damaged_files()
    status, said = start("trainer.__main__", str(config))
    assert status == 0, said
    assert outcome(folder / "trainer") == undisturbed


def test_the_service_is_killed_and_started_again(folder: Path, undisturbed: Any) -> None:
    with watched_service(folder / "service.pid") as url:
        config = configured(folder, "service", url, colocated=True)
        status, said = start("tests.trainer.killed", str(folder / "service.pid"), ",".join(MOMENTS), str(config))
    assert status == 0, said
    assert all(f"at {moment}" in said for moment in MOMENTS)
    assert outcome(folder / "service") == undisturbed


@pytest.mark.full
def test_a_duel_is_killed_and_started_again(folder: Path, service: str) -> None:
    """With testers, kept samples and held-out problems."""
    (folder := folder / "duel").mkdir()
    duel.write_problems(folder, seed=0)
    warm_up(folder / "warm", 0, duel.example, steps=300)
    runs, kept = [], []
    for name, moments in (("dueling", ()), ("killed_duel", MOMENTS)):
        more = {"name": name, "steps": STEPS, "checkpoint": {"every": 1, "resume": True}, "seed": 0}
        said = duel.settings(folder, service, watch={"tensorboard": False, "rollouts": "all"}, **more)
        # one sample at a time: a duel starts its requests over several turns, and what vLLM computes together differs
        said["rollout"] |= {"prompts": 4, "samples": 4, "concurrency": 1}
        said["held_out"] |= {"every": 2}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(said))
        for moment in moments:
            status, told = start("tests.trainer.killed", "trainer", moment, str(path))
            assert (status, f"at {moment}" in told) == (SIGKILLED, True), told
        status, told = start("trainer.__main__", str(path))
        assert status == 0, told
        runs.append(outcome(folder / name))
        kept.append([line["completion"] for line in rollouts.read(folder / name)])
    assert runs[0] == runs[1]
    assert kept[0] == kept[1]
    assert runs[0][1][0]["tester_judged"] > 0
    assert "held_out_pass_rate" in runs[0][1][1]


@pytest.mark.full  # six runs
def test_the_trainer_is_killed_while_it_samples_ahead(folder: Path, service: str) -> None:
    """With `in_flight = "finish"` every sample is of one version, whatever the timing."""
    expected: Any = None
    for name, moments in (("ahead", ()), ("ahead_killed", MOMENTS)):
        config = configured(folder, name, service, colocated=True, buffer=AHEAD)
        for moment in moments:
            status, said = start("tests.trainer.killed", "trainer", moment, str(config))
            assert status == SIGKILLED, said
        status, said = start("trainer.__main__", str(config))
        assert status == 0, said
        expected = expected or outcome(folder / name)
    assert [row["staleness_max"] for row in expected[1]] == [0, 1, 1, 1, 1, 1]
    assert outcome(folder / "ahead_killed") == expected


@pytest.mark.full  # two vLLM start at a time
def test_one_of_two_servers_is_killed_while_they_sample_ahead(folder: Path, service: str) -> None:
    """The other one does what it left behind; it comes back with the current weights."""
    runs = []
    for name, moments in (("two", "0:never"), ("two_killed", "2:generate,4:sync,5:save")):
        rollout = {"replicas": 2, "server_arguments": ONE_BY_ONE}
        config = configured(folder, name, service, colocated=False, buffer=AHEAD, rollout=rollout)
        status, said = start("tests.trainer.killed", "vllm", moments, str(config))
        assert status == 0, said
        runs.append(outcome(folder / name))
    assert runs[0] == runs[1]


@pytest.mark.full  # vLLM starts six times; tests/trainer/test_away.py kills it in the middle of samples
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
    need_service()
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
