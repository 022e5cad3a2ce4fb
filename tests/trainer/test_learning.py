"""It learns, from the real service's rewards, with real vLLM and real DeepSpeed; and what is broken in it shows.

A third of a million parameters, a vLLM in the trainer's own process, half of the demonstration's steps. A run begins
at about a third. It must come to THRESHOLD, which three seeds clear (PROCTOR_SEEDS=0,1,2 runs them all) and which no
run with one of the three sabotages comes near.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from trainer import demo

STEPS = 14
THRESHOLD = 0.65
SEEDS = [int(seed) for seed in os.environ.get("PROCTOR_SEEDS", "0").split(",")]
SECONDS = 400
ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """How a run went."""

    status: int
    said: str
    rates: list[float]

    @property
    def has_learnt(self) -> bool:
        return len(self.rates) == STEPS and fmean(self.rates[-3:]) >= THRESHOLD


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that can write programs, and the problems."""
    folder = tmp_path_factory.mktemp("learning")
    demo.warm_up(folder / "warm", seed=0)
    demo.write_problems(folder / "problems.jsonl")
    return folder


def run(folder: Path, service: str, sabotage: str, seed: int) -> Ended:
    name = f"{sabotage}-{seed}"
    said = demo.settings(folder, service, colocated=True, name=name, steps=STEPS, seed=seed)
    said["watch"] = {"tensorboard": False}
    (folder / f"{name}.json").write_text(json.dumps(said))
    ended = subprocess.run(
        [sys.executable, "-m", "tests.trainer.learning", sabotage, str(folder / f"{name}.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    metrics = folder / name / "metrics.jsonl"
    rows = [json.loads(line) for line in metrics.read_text().splitlines()] if metrics.exists() else []
    return Ended(ended.returncode, ended.stdout + ended.stderr, [row["pass_rate"] for row in rows])


@pytest.mark.parametrize("seed", SEEDS)
def test_it_learns(warm: Path, service: str, seed: int) -> None:
    ended = run(warm, service, "nothing", seed)
    assert ended.status == 0, ended.said[-3000:]
    assert fmean(ended.rates[:2]) < 0.5, f"it knew before: {ended.rates}"
    assert ended.has_learnt, ended.rates


@pytest.mark.parametrize("sabotage", ["no_advantages", "shuffled_rewards"])
def test_a_sabotaged_run_does_not(warm: Path, service: str, sabotage: str) -> None:
    ended = run(warm, service, sabotage, SEEDS[0])
    assert ended.status == 0, ended.said[-3000:]
    assert len(ended.rates) == STEPS
    assert not ended.has_learnt, ended.rates


def test_a_run_whose_weights_do_not_arrive_stops(warm: Path, service: str) -> None:
    ended = run(warm, service, "no_sync", SEEDS[0])
    assert ended.status == 2
    assert "it does not compute with what was sent" in ended.said
    assert len(ended.rates) < 2, "no step may be made of samples from old weights"


def test_a_run_is_not_written_over(warm: Path, service: str) -> None:
    taken = warm / "nothing-0"
    taken.mkdir(exist_ok=True)
    (taken / "metrics.jsonl").touch()
    before = (taken / "metrics.jsonl").read_bytes()
    ended = run(warm, service, "nothing", 0)
    assert ended.status == 2
    assert "has a run in it already" in ended.said
    assert (taken / "metrics.jsonl").read_bytes() == before
