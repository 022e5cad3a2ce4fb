"""`python -m examples.update aspo_1.5b`: the time and memory of optimiser steps on this machine, beside the plan's.

The model has the configuration's shape and random weights; rows are random tokens. Nothing is sampled or graded, so
that neither vLLM nor the reward service is needed. The first step loads kernels and is not counted.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

from examples.running import run
from trainer.batch import collate
from trainer.config import Config, load
from trainer.episode import MicroBatch, Row
from trainer.inspection import plan
from trainer.model import DTYPES
from trainer.objective import Objective
from trainer.policy import Policy
from trainer.ranks import Ranks

LEARNING_RATE = 1e-6
PASSES = 4  # of a weight and a token: forward, forward again if activations are recomputed, and two backward


def main() -> int:
    """Measure, print a line for each kind of rows, and return 0."""
    options = _options()
    config = load(options.config, options.overrides)
    ranks = Ranks.join()
    shape = plan.Shape.of(config.model.path)
    own = plan.needs(config, plan.Machine(ranks.size))
    with tempfile.TemporaryDirectory() as folder:
        path = _random_model(Path(folder), shape, config)
        model = config.model.model_copy(update={"path": str(path), "reference": ""})
        policy = Policy(config.model_copy(update={"model": model}), ranks)
    print(f"{config.name}: {shape.parameters / 1e9:.2f} billion weights, attention {policy.attention}")
    print(f"plan: {own.weights + own.states:.1f} GB of weights and states, {own.activations:.1f} of a micro-batch")
    for name, lengths in _kinds(config):
        seconds, peak = _measured(policy, config, _rows(lengths, shape.config.vocab_size), options.steps)
        tokens = sum(lengths)
        passes = PASSES if config.model.checkpointing else PASSES - 1
        rate = 2 * passes * shape.parameters * tokens / seconds / 1e12
        print(f"{name}: {seconds:.2f} s, {tokens / seconds:,.0f} tokens/s, {rate:.0f} TFLOP/s, peak {peak:.1f} GB")
    policy.close()
    ranks.close()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.update", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", type=Path, help="a TOML file or a shipped configuration")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="override a setting of the file")
    parser.add_argument("--steps", type=int, default=3, help="measured optimiser steps of each kind of rows")
    return parser.parse_args()


def _random_model(folder: Path, shape: plan.Shape, config: Config) -> Path:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config.seed)
    with torch.device(device):
        dtype = DTYPES[config.model.dtype]
        model = AutoModelForCausalLM.from_config(shape.config, dtype=dtype)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    return folder


def _kinds(config: Config) -> Iterator[tuple[str, list[int]]]:
    """Yield the rows of a micro-batch by name: as many of 1,024 tokens as it holds, and the longest row."""
    short = max(1, config.optimiser.micro_tokens // 1024)
    yield f"{short} rows of 1,024 tokens", [1024] * short
    yield f"1 row of {config.longest:,} tokens", [config.longest]


def _rows(lengths: Sequence[int], vocabulary: int) -> MicroBatch:
    draw = random.Random(0)  # noqa: S311 - no secret
    rows = [
        Row([draw.randrange(vocabulary) for _ in range(length)], length - 1, [-1.0] * (length - 1), 1.0)
        for length in lengths
    ]
    return collate(rows, [1 / sum(lengths)] * len(rows))


def _measured(policy: Policy, config: Config, rows: MicroBatch, steps: int) -> tuple[float, float]:
    """Return the median seconds of optimiser steps after a first one, and the peak of the GPU's memory in GB."""
    objective, seconds = Objective.of(config), []
    scored = [_with_old(policy, config, rows)]
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    for _ in range(1 + steps):
        began = time.perf_counter()
        policy.update(scored, objective, True, LEARNING_RATE)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    peak = torch.cuda.max_memory_allocated() / plan.GB if torch.cuda.is_available() else 0.0
    return statistics.median(seconds[1:]), peak


def _with_old(policy: Policy, config: Config, rows: MicroBatch) -> MicroBatch:
    """Add the log-probabilities before the step, and the reference model's if there is one."""
    (old,) = policy.score([rows])
    reference = policy.score([rows], by_reference=True)[0] if config.kl.is_on else None
    return MicroBatch(**{**vars(rows), "old": old, "behaviour": old, "reference": reference})


if __name__ == "__main__":
    run("examples.update", main)
