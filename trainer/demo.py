"""`make train`: a tiny model learns from executed tests in about two minutes, without a GPU.

A prompt is `add 3 4`; the answer is a program that must print 7. The model is pre-trained on programs with the right
numbers, of which one in ten has the right operator and the others a random one, so about four in ten pass. Which word
means which operator only the rewards of the real service teach. Without the one in ten all operators are alike to the
model, and a run waits for chance to prefer one. Everything else is as in a real run: vLLM, DeepSpeed, the service.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.request import urlopen

from trainer.engines.process import free_port, start_guarded
from trainer.errors import ConfigError, TrainerError
from trainer.report import METRICS, read

OPERATORS = {"add": "+", "sub": "-", "mul": "*"}
NUMBERS = range(10)
WARM_STEPS, WARM_ROWS, WARM_LR = 300, 64, 2e-3
HINT_SHARE = 0.1  # of the programs of the pre-training; their operator is right
SAMPLES = 16
SETTLED, LEAST = 10, 0.85  # no step after the tenth has a lower pass rate
START_SECONDS = 120.0
Example = Callable[[random.Random], tuple[str, str]]
BARS = "▁▂▃▄▅▆▇█"


def main() -> int:
    """Run the demo; return 0 if the pass rate reached `--expect` and did not collapse after step SETTLED."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that started processes are stopped
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    folder: Path = options.folder
    began = time.monotonic()
    with locked(folder), serving(options) as url:
        print(f"warming up a tiny model in {folder} …", flush=True)
        warm_up(folder / "warm", options.seed)
        write_problems(folder / "problems.jsonl")
        more = {"steps": options.steps, "seed": options.seed, "algorithm": options.algorithm}
        (rows,) = train(settings(folder, url, options.colocated, options.samples, **more))
    rates = [row["pass_rate"] for row in rows]
    print(curve(rates))
    late, least = mean(rates[-5:]), min(rates[SETTLED:], default=0.0)
    print(f"pass rate {mean(rates[:5]):.2f} → {late:.3f}, after step {SETTLED} at least {least:.3f}")
    print(f"{time.monotonic() - began:.0f} s in all")
    print(f"the run: {folder / 'run'}; its page: {folder / 'run' / 'page.html'}")
    return 0 if late >= options.expect and least >= LEAST else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trainer.demo", description=(__doc__ or "").partition("\n")[0])
    add_common_options(parser, Path("build/train"), steps=25)
    parser.add_argument("--algorithm", default="grpo_plus")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples a prompt")
    parser.add_argument("--colocated", action="store_true", help="run vLLM in the trainer's process")
    parser.add_argument("--expect", type=float, default=0.95, help="the pass rate to reach in the last five steps")
    return parser.parse_args()


def add_common_options(parser: argparse.ArgumentParser, folder: Path, steps: int) -> None:
    """Add the options that the demos share, with the defaults of `--folder` and `--steps`."""
    command = shutil.which("proctor") or ".venv/bin/proctor"
    parser.add_argument("--folder", type=Path, default=folder)
    parser.add_argument("--service", default="", help="URL of a running service; empty: start one")
    parser.add_argument("--proctor", default=command, help="the command that starts the service")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, default=0)


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
        folder: The demo's folder.
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


def train(*configs: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the metrics of the steps of `proctor train` with each configuration, run at the same time.

    Raises:
        ConfigError: A run failed.
    """
    folders = [Path(config["out"]) / config["name"] for config in configs]
    with ExitStack() as stack:
        for folder, config in zip(folders, configs, strict=True):
            path = folder.with_name(f"{folder.name}.json")
            path.write_text(json.dumps(config, indent=2))
            stack.enter_context(guarded([sys.executable, "-m", "trainer", str(path)], waits=True))
    for folder in folders:
        if not (folder / "model").exists():
            raise ConfigError(f"the run in {folder} did not end well: see its messages above")
    return [read(folder / METRICS) for folder in folders]


def curve(rates: list[float], width: int = 60) -> str:
    """Draw values in [0, 1], such as pass rates, as a line of bars of at most `width` characters."""
    size = -(-len(rates) // width)
    means = [mean(rates[start : start + size]) for start in range(0, len(rates), size)]
    return "".join(BARS[min(int(rate * len(BARS)), len(BARS) - 1)] for rate in means)


def mean(values: list[float]) -> float:
    """Return the mean, 0 of no values."""
    return sum(values) / len(values) if values else 0.0


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[str]:
    """Start the reward service, unless the options name one, yield its URL, and stop it afterwards."""
    if options.service:
        yield options.service
        return
    port, log = free_port(), options.folder / "service.log"
    print("starting the reward service …", flush=True)
    with log.open("wb") as file, guarded([options.proctor, "serve", "--port", str(port)], file) as process:
        _wait_until_ready(process, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def guarded(
    command: list[str], output: IO[bytes] | None = None, waits: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the guard of a command's process, with its output to a file, that ends with the block; if it `waits`, the
    block ends with the process. See `start_guarded`.
    """
    process = start_guarded(command, output)
    try:
        yield process
        if waits:
            process.wait()
    finally:
        process.terminate()
        process.wait()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create an empty folder for one demo at a time; its content is deleted.

    Raises:
        ConfigError: Another process uses the folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another run uses {folder}: wait for it, or name another folder (--folder)") from None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=5):  # noqa: S310 - our own URL
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise ConfigError(f"the reward service did not become ready:\n{log.read_text()[-2000:]}")


def warm_up(folder: Path, seed: int, example: Example = example, steps: int = WARM_STEPS) -> None:
    """Pre-train a model on examples whose form is right and whose meaning is left to chance.

    Args:
        folder: Where to save it.
        seed: The random seed.
        example: Returns a random prompt and its answer.
        steps: The number of optimiser steps.
    """
    import torch

    from trainer.tiny import tiny_model, tiny_tokenizer

    torch.manual_seed(seed)
    draw = random.Random(seed)  # noqa: S311 - no secret
    tokenizer: Any = tiny_tokenizer()
    model = tiny_model(tokenizer, layers=2, seed=seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=WARM_LR, betas=(0.9, 0.95), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / 20, 1.05 - step / steps))
    for _ in range(steps):
        ids, labels = _batch(tokenizer, [example(draw) for _ in range(WARM_ROWS)])
        model(input_ids=ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _batch(tokenizer: Any, texts: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """Return token ids and labels [rows, longest]; labels mask the prompts."""
    import torch

    rows = [(tokenizer.encode(prompt), [*tokenizer.encode(answer), tokenizer.eos_token_id]) for prompt, answer in texts]
    longest = max(len(prompt) + len(answer) for prompt, answer in rows)
    ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    labels = torch.full_like(ids, -100)
    for row, (prompt, answer) in enumerate(rows):
        ids[row, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
        labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
    return ids, labels


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TrainerError as error:
        sys.exit(f"trainer.demo: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
