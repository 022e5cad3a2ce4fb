"""Tests that the trainer learns with the real service, vLLM and DeepSpeed, and that defects are noticed.

The model has 0.3 M parameters and vLLM runs in the trainer's process, for about a third of the demonstration's steps
with half of its samples. A run starts at a pass rate of about a third and must reach THRESHOLD, which three seeds do
(PROCTOR_SEEDS=0,1,2 runs them all) and no run with one of the three sabotages does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file

from examples import arithmetic
from tests.trainer.launcher import ROOT, launch, start_ranks

pytestmark = pytest.mark.vllm  # in the processes that it starts

STEPS = 9
SAMPLES = arithmetic.SAMPLES // 2  # a prompt
THRESHOLD = 0.65
SEEDS = [int(seed) for seed in os.environ.get("PROCTOR_SEEDS", "0").split(",")]
ALGORITHM = {"algorithm": "grpo_plus", "kl": {"coefficient": 0.001}}  # with a reference model, to see that there is one
SECONDS = 1800  # a guard against hanging


class Ended(NamedTuple):
    """How a run went."""

    status: int
    said: str
    rows: list[dict[str, float]]

    @property
    def rates(self) -> list[float]:
        return [row["pass_rate"] for row in self.rows]

    @property
    def has_learnt(self) -> bool:
        return len(self.rates) == STEPS and fmean(self.rates[-3:]) >= THRESHOLD


Runs = Callable[[str, int], Ended]  # by sabotage and seed


@pytest.fixture(scope="module")
def runs(warm: Path, service: str) -> Runs:
    """Each run, made when it is first asked for, with vLLM in its process."""
    return cache(partial(run, warm, service))


def run(folder: Path, service: str, sabotage: str, seed: int) -> Ended:
    name = f"{sabotage}-{seed}"
    said = arithmetic.settings(
        folder, service, colocated=True, samples=SAMPLES, name=name, steps=STEPS, seed=seed, **ALGORITHM
    )
    config = write(folder, said | {"watch": {"tensorboard": False}})
    status, output = launch("tests.trainer.learning", [sabotage, str(config)], SECONDS)
    return Ended(status, output, rows(folder / name))


def write(folder: Path, said: dict[str, Any]) -> Path:
    config = folder / f"{said['name']}.json"
    config.write_text(json.dumps(said))
    return config


def rows(run: Path) -> list[dict[str, float]]:
    metrics = run / "metrics.jsonl"
    return [json.loads(line) for line in metrics.read_text().splitlines()] if metrics.exists() else []


@pytest.mark.parametrize("seed", SEEDS)
def test_it_learns(runs: Runs, seed: int) -> None:
    ended = runs("nothing", seed)
    assert ended.status == 0, ended.said[-3000:]
    assert ended.rates[0] < 0.5, f"it knew before: {ended.rates}"
    assert ended.has_learnt, ended.rates


@pytest.mark.full  # they show that THRESHOLD tells a run that learns from others
@pytest.mark.parametrize("sabotage", ["no_advantages", "shuffled_rewards"])
def test_a_sabotaged_run_does_not(runs: Runs, sabotage: str) -> None:
    ended = runs(sabotage, SEEDS[0])
    assert ended.status == 0, ended.said[-3000:]
    assert len(ended.rates) == STEPS
    assert not ended.has_learnt, ended.rates


def test_a_run_whose_weights_do_not_arrive_stops(runs: Runs) -> None:
    ended = runs("no_sync", SEEDS[0])
    assert ended.status == 2
    assert "(sync.max_probe_gap): it does not use the synced weights" in ended.said
    assert len(ended.rates) < 2, "no step may be made of samples from old weights"


def by_torchrun(config: Path) -> Ended:
    """Run two ranks as a user does."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "trainer"]
    ended = subprocess.run(
        [*command, str(config)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, [])


def by_forks(config: Path) -> Ended:
    """Run two ranks that have imported torch and DeepSpeed already."""
    both = [rank.end(SECONDS) for rank in start_ranks("trainer.__main__", [str(config)], 2)]
    return Ended(max(abs(each.status) for each in both), "".join(each.said for each in both), [])


@pytest.mark.parametrize("start", [by_forks, pytest.param(by_torchrun, marks=pytest.mark.full)])
def test_two_ranks_with_a_server_do_what_one_does_alone(
    runs: Runs, warm: Path, service: str, start: Callable[[Path], Ended]
) -> None:
    more = {"name": start.__name__, "steps": 2, "seed": SEEDS[0], "deepspeed": {"zero": 3}} | ALGORITHM
    said = arithmetic.settings(warm, service, colocated=False, samples=SAMPLES, **more)
    ended = start(write(warm, said))
    assert ended.status == 0, ended.said[-3000:]
    of_two = rows(warm / start.__name__)
    together, alone = of_two[0], runs("nothing", SEEDS[0]).rows[0]
    for figure in ("pass_rate", "grad_norm", "entropy", "kl", "length"):
        assert together[figure] == pytest.approx(alone[figure], rel=1e-3), figure
    assert len(of_two) == 2
    assert (warm / start.__name__ / "model" / "model.safetensors").exists()


@pytest.mark.full  # a vLLM server starts
def test_adapters_are_trained_and_sampled_from(warm: Path, service: str) -> None:
    """The server gets the adapters alone, and each sync's probe compares its weights with the trainer's."""
    rank = 8
    more = {"name": "lora", "steps": 8, "seed": SEEDS[0], "lora": {"rank": rank}, "sync": {"delta": True}}
    said = arithmetic.settings(warm, service, colocated=False, samples=arithmetic.SAMPLES, **ALGORITHM | more)
    said["optimiser"] |= {"lr": 5e-3, "schedule": "constant"}
    status, output = launch("trainer.__main__", [str(write(warm, said))], SECONDS)
    assert status == 0, output[-3000:]
    found = rows(warm / "lora")
    print(
        *(f"{row['pass_rate']:.2f} {row['grad_norm']:.3f} {row['sync_bytes']} {row['probe_gap']:.1e}" for row in found)
    )
    assert len(found) == 8
    assert all(row["grad_norm"] > 0 and row["probe_gap"] < 1e-4 for row in found)
    old, new = (load_file(folder / "model.safetensors") for folder in (warm / "warm", warm / "lora" / "model"))
    assert found[0]["sync_bytes"] < sum(each.nbytes for each in old.values()) / 2
    ranks = {
        name: int(torch.linalg.matrix_rank(new[name] - old[name], rtol=1e-4)) for name in old if old[name].ndim == 2
    }
    assert {name for name in ranks if not ranks[name]} == {"model.embed_tokens.weight"}
    assert max(ranks.values()) == rank


def test_a_run_is_not_written_over(runs: Runs, warm: Path) -> None:
    assert runs("nothing", SEEDS[0]).rows
    metrics = warm / f"nothing-{SEEDS[0]}" / "metrics.jsonl"
    before = metrics.read_bytes()
    status, said = launch("trainer.__main__", [str(warm / f"nothing-{SEEDS[0]}.json")], SECONDS)
    assert status == 2
    assert "already holds a run" in said
    assert metrics.read_bytes() == before
