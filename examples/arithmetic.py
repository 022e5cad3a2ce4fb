"""`make train`: a tiny model learns from executed tests in about two minutes, without a GPU.

A prompt is `add 3 4`; the answer is a program that must print 7. The model is pre-trained on programs with the right
numbers, of which one in ten has the right operator and the others a random one, so about four in ten pass. Which word
means which operator only the rewards of the real service teach. Without the one in ten all operators are alike to the
model, and a run waits for chance to prefer one. Everything else is as in a real run: vLLM, DeepSpeed, the service.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from examples import running
from examples.tiny import warm_up

OPERATORS = {"add": "+", "sub": "-", "mul": "*"}
NUMBERS = range(10)
WARM_STEPS = 300
HINT_SHARE = 0.1  # of the programs of the pre-training; their operator is right
SAMPLES = 16
SETTLED, LEAST = 10, 0.85  # no step after the tenth has a lower pass rate


def main() -> int:
    """Run the example; return 0 if the pass rate reached `--expect` and did not collapse after step SETTLED."""
    options = _options()
    folder: Path = options.folder
    began = time.monotonic()
    with running.locked(folder), running.serving(options) as url:
        print(f"warming up a tiny model in {folder} …", flush=True)
        warm_up(folder / "warm", options.seed, example, WARM_STEPS)
        write_problems(folder / "problems.jsonl")
        more = {"steps": options.steps, "seed": options.seed, "algorithm": options.algorithm}
        (rows,) = running.train(settings(folder, url, options.colocated, options.samples, **more))
    rates = [row["pass_rate"] or 0.0 for row in rows]  # None: no sample has a verdict
    print(running.curve(rates))
    late, least = running.mean(rates[-5:]), min(rates[SETTLED:], default=0.0)
    print(f"pass rate {running.mean(rates[:5]):.2f} → {late:.3f}, after step {SETTLED} at least {least:.3f}")
    print(f"{time.monotonic() - began:.0f} s in all")
    print(f"the run: {folder / 'run'}; its curves: tensorboard --logdir {folder / 'run'}")
    return 0 if late >= options.expect and least >= LEAST else 1


def _options() -> argparse.Namespace:
    parser = running.parser("arithmetic", __doc__, Path("build/train"), steps=25)
    parser.add_argument("--algorithm", default="grpo_plus")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples a prompt")
    parser.add_argument("--colocated", action="store_true", help="run vLLM in the trainer's process")
    parser.add_argument("--expect", type=float, default=0.95, help="the pass rate to reach in the last five steps")
    return parser.parse_args()


def problems() -> Iterator[dict[str, Any]]:
    """Yield all problems in the format of `data.train`."""
    for word, left, right in itertools.product(OPERATORS, NUMBERS, NUMBERS):
        answer = eval(f"{left}{OPERATORS[word]}{right}")  # noqa: S307 - our own text
        yield {
            "id": f"{word}-{left}-{right}",
            "prompt": f"{word} {left} {right}\n",
            "tests": [{"type": "stdin", "output": f"{answer}\n"}],
        }


def example(draw: random.Random) -> tuple[str, str]:
    """Draw a random prompt, and a program with the right numbers and mostly a random operator."""
    word, left, right = draw.choice(list(OPERATORS)), draw.choice(NUMBERS), draw.choice(NUMBERS)
    other = word if draw.random() < HINT_SHARE else draw.choice(list(OPERATORS))
    return f"{word} {left} {right}\n", f"print({left}{OPERATORS[other]}{right})"


def write_problems(path: Path) -> None:
    """Write the problems as JSON Lines."""
    path.write_text("".join(json.dumps(problem) + "\n" for problem in problems()))


def settings(folder: Path, service: str, colocated: bool, samples: int, **more: Any) -> dict[str, Any]:
    """Return the run's configuration.

    Args:
        folder: The example's folder.
        service: The reward service's URL.
        colocated: Whether vLLM runs in the trainer's process.
        samples: Samples a prompt.
        more: Further top-level settings.
    """
    return {
        "name": "run",
        "out": str(folder),
        "model": {"path": str(folder / "warm"), "dtype": "float32", "checkpointing": False},
        "data": {"train": [str(folder / "problems.jsonl")], "format": "plain", "max_prompt_tokens": 16},
        "rollout": {
            "prompts": 32,
            "samples": samples,
            "max_tokens": 14,
            "engine": "colocated" if colocated else "server",
        },
        "reward": {"url": service, "extraction": "whole", "overlong_buffer": 0},
        "optimiser": {
            "epochs": 2,
            "minibatches": 2,
            "lr": 1e-3,
            "schedule": "linear",  # at a constant rate the last updates may undo what was learnt
            "betas": [0.9, 0.95],
            "weight_decay": 0.0,
        },
    } | more


if __name__ == "__main__":
    running.run("examples.arithmetic", main)
