"""`make train`: without a GPU and in some two minutes, a tiny model learns what only execution can tell it.

A prompt is `add 3 4`; the answer is a program, and it is right if it prints 7. The model is warmed up on programs with
the right numbers and an operator drawn by lot, so it passes about a third of the time, and nothing but the rewards of
the real service says which word means which operator. All the rest is as in a real run: vLLM, DeepSpeed, the service.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from trainer.errors import ConfigError

OPERATORS = {"add": "+", "sub": "-", "mul": "*"}
NUMBERS = range(10)
WARM_STEPS, WARM_ROWS, WARM_LR = 300, 64, 2e-3
SAMPLES = 16
MICRO = 512  # without flash attention its cost grows with the square
START_SECONDS = 120.0
BARS = "▁▂▃▄▅▆▇█"


def main() -> int:
    """Everything; 0 if it learnt."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what was started is ended
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    folder: Path = options.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    with serving(options) as url:
        print(f"warming up a tiny model in {folder} …", flush=True)
        warm_up(folder / "warm", options.seed)
        write_problems(folder / "problems.jsonl")
        more = {"steps": options.steps, "seed": options.seed, "algorithm": options.algorithm}
        rates = train(folder, settings(folder, url, options.colocated, options.samples, **more))
    print(curve(rates))
    print(f"pass rate {mean(rates[:5]):.2f} → {mean(rates[-5:]):.2f} in {time.monotonic() - began:.0f} s in all")
    print(f"the run: {folder / 'run'}; its page: {folder / 'run' / 'page.html'}")
    return 0 if mean(rates[-5:]) >= options.expect else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trainer.demo", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/train"))
    parser.add_argument("--service", default="", help="URL of one that runs; none: it is started")
    parser.add_argument(
        "--proctor", default=shutil.which("proctor") or ".venv/bin/proctor", help="what to start it with"
    )
    parser.add_argument("--port", type=int, default=8097, help="for what is started")
    parser.add_argument("--algorithm", default="grpo_plus")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of a prompt")
    parser.add_argument("--colocated", action="store_true", help="vLLM in the trainer's process, not a server")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--expect", type=float, default=0.9, help="the pass rate that it must come to")
    return parser.parse_args()


def problems() -> Iterator[dict[str, Any]]:
    """All there are, in the form that `data.train` names."""
    for word, left, right in itertools.product(OPERATORS, NUMBERS, NUMBERS):
        answer = eval(f"{left}{OPERATORS[word]}{right}")  # noqa: S307 - our own text
        yield {
            "id": f"{word}-{left}-{right}",
            "prompt": f"{word} {left} {right}\n",
            "tests": [{"type": "stdin", "output": f"{answer}\n"}],
        }


def write_problems(path: Path) -> None:
    """A line of JSON each."""
    path.write_text("".join(json.dumps(problem) + "\n" for problem in problems()))


def settings(folder: Path, service: str, colocated: bool, samples: int, **more: Any) -> dict[str, Any]:
    """What a configuration file would say."""
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
        "sync": {"transport": "direct" if colocated else "file"},
        "reward": {"url": service, "extraction": "whole", "overlong_buffer": 0},
        "optimiser": {
            "epochs": 2,
            "minibatches": 2,
            "lr": 1e-3,
            "betas": [0.9, 0.95],
            "weight_decay": 0.0,
            "micro_tokens": MICRO,
        },
    } | more


def train(folder: Path, said: Mapping[str, Any]) -> list[float]:
    """As anybody would: by `proctor train` with a file. The pass rate of each step."""
    (folder / "config.json").write_text(json.dumps(said, indent=2))
    subprocess.run([sys.executable, "-m", "trainer", str(folder / "config.json")], check=True)
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["pass_rate"] for line in lines]


def curve(rates: list[float], width: int = 60) -> str:
    """A line of bars."""
    size = -(-len(rates) // width)
    means = [mean(rates[start : start + size]) for start in range(0, len(rates), size)]
    return "".join(BARS[min(int(rate * len(BARS)), len(BARS) - 1)] for rate in means)


def mean(values: list[float]) -> float:
    """Of a few numbers."""
    return sum(values) / len(values) if values else 0.0


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[str]:
    """The URL of a reward service that is ready."""
    if options.service:
        yield options.service
        return
    url = f"http://127.0.0.1:{options.port}"
    print("starting the reward service …", flush=True)
    command = [options.proctor, "serve", "--port", str(options.port)]
    with (options.folder / "service.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_until_ready(process, url, options.folder / "service.log")
            yield url
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=5):  # noqa: S310 - our own URL
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise ConfigError(f"the reward service did not become ready:\n{log.read_text()[-2000:]}")


def warm_up(folder: Path, seed: int) -> None:
    """A model that writes programs with the right numbers, and knows nothing of words."""
    import torch

    from trainer.tiny import tiny_model, tiny_tokenizer

    torch.manual_seed(seed)
    draw = random.Random(seed)  # noqa: S311 - no secret
    tokenizer: Any = tiny_tokenizer()
    model = tiny_model(tokenizer, layers=2, seed=seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=WARM_LR, betas=(0.9, 0.95), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / 20, 1.05 - step / WARM_STEPS)
    )
    for _ in range(WARM_STEPS):
        ids, labels = _warm_rows(tokenizer, draw)
        model(input_ids=ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _warm_rows(tokenizer: Any, draw: random.Random) -> tuple[Any, Any]:
    """Prompts with programs, as ids and as labels that leave the prompt out; [rows, longest]."""
    import torch

    rows = []
    for _ in range(WARM_ROWS):
        word, left, right = draw.choice(list(OPERATORS)), draw.choice(NUMBERS), draw.choice(NUMBERS)
        prompt = tokenizer.encode(f"{word} {left} {right}\n")
        program = tokenizer.encode(f"print({left}{draw.choice(list(OPERATORS.values()))}{right})")
        rows.append((prompt, [*program, tokenizer.eos_token_id]))
    longest = max(len(prompt) + len(program) for prompt, program in rows)
    ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    labels = torch.full_like(ids, -100)
    for row, (prompt, program) in enumerate(rows):
        ids[row, : len(prompt) + len(program)] = torch.tensor([*prompt, *program])
        labels[row, len(prompt) : len(prompt) + len(program)] = torch.tensor(program)
    return ids, labels


if __name__ == "__main__":
    sys.exit(main())
