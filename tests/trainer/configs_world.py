"""Scaled-down copies of the shipped configurations, and a process that runs them all.

`main` runs each configuration in a fork: slow imports happen once (tests/trainer/launcher.py), and a run's state ends
with its process.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.fake_service import PASSED, FakeService
from trainer.config import Config

STEPS = 3
TOKENS = 32  # of the longest response
ROOM = 1024  # of the server
FEWER_PROMPTS, FEWER_SAMPLES = 16, 4
WRONG = {**PASSED, "verdict": "WA", "reward": 0.0}


class Lottery(FakeService):
    """Grades by the hash of what it is asked, its id aside: so there is something to learn, and it is repeatable."""

    async def grade(self, request: web.Request) -> web.StreamResponse:
        said = json.loads(await request.read())
        name = said.pop("id")
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()
        return web.json_response({"id": name} | (PASSED if digest[0] % 2 else WRONG))


def shrunken(config: Config, folder: Path, model: Path, service: str, server: str) -> dict[str, Any]:
    """The same algorithm with the tiny model, short responses and few of them, stages at step 2 and 3, on a CPU."""
    longest = max(plan.rollout.max_tokens for plan in config.stage_configs)
    said = shorter(config.model_dump(mode="json"), longest)
    stages = [shorter(stage, longest) | {"begin": number} for number, stage in enumerate(said["stages"], start=2)]
    more = {
        "out": str(folder),
        "steps": STEPS,
        "model": {"path": str(model), "dtype": "float32"},
        "data": {"train": [str(folder / "problems.jsonl")], "max_prompt_tokens": 512},
        "rollout": {"engine": "server", "servers": [server], "tensor_parallel": 1, "patience_seconds": 60.0}
        | {"replicas": 1, "turns": False, "devices": ""},
        "reward": {"url": service, "patience_seconds": 60.0},
        "duel": said["duel"] | {"ask": "{statement}", "opponent": server if said["duel"]["opponent"] else ""},
        "sync": {"transport": "file", "bucket_bytes": 1 << 18},
        "watch": {"tensorboard": False},
    }
    for section, settings in more.items():
        said[section] = said[section] | settings if isinstance(settings, Mapping) else settings
    return said | {"stages": stages}


def shorter(said: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """What a configuration or a stage says of sizes, in proportion."""
    small = {
        "prompts": lambda value: max(2, value // FEWER_PROMPTS),
        "samples": lambda value: max(2, value // FEWER_SAMPLES),
        "max_tokens": lambda value: value * TOKENS // longest,
        "minibatch_prompts": lambda value: value and max(1, value // FEWER_PROMPTS),
        "max_model_len": lambda value: value and ROOM,
        "micro_tokens": lambda _: ROOM,
        "overlong_buffer": lambda value: min(value, TOKENS // 2),
    }
    rules: Mapping[str, Any] = small
    sizes = {"rollout", "optimiser", "reward"}
    return {
        section: {key: rules[key](value) if key in rules else value for key, value in settings.items()}
        if section in sizes
        else settings
        for section, settings in said.items()
    }


def run(path: str) -> None:
    """One of them. Says on stderr what went wrong."""
    from trainer.__main__ import main

    sys.exit(main([path]))


def main(paths: Sequence[str]) -> int:
    """All of them; how many failed."""
    failed = 0
    for path in paths:
        child = multiprocessing.get_context("fork").Process(target=run, args=(path,))
        child.start()
        child.join()
        failed += bool(child.exitcode)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
