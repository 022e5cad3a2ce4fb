"""Runs a colocated engine over a pretended vLLM, in a separate process, because it imports the real one.

`python -m tests.trainer.stepped_world` prints the results in JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from trainer.config import resolve
from trainer.engines.colocated import ColocatedEngine
from trainer.errors import TrainerError

STEPS = 3  # of a request
SECONDS = 0.02  # of a step


class Pretended:
    """An engine of vLLM whose requests take so many steps."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}
        self.did: list[str] = []
        self.fails = False
        self.engine_core = SimpleNamespace(shutdown=lambda: None)

    def add_request(self, name: str, *_: object) -> None:
        self.left[name] = STEPS
        self.did.append(f"add {name}")

    def abort_request(self, names: Sequence[str]) -> None:
        for name in names:
            del self.left[name]
            self.did.append(f"abort {name}")

    def has_unfinished_requests(self) -> bool:
        return bool(self.left)

    def step(self) -> list[Any]:
        if self.fails:
            raise RuntimeError("out of memory")
        time.sleep(SECONDS)
        self.did.append("step")
        self.left = {name: left - 1 for name, left in self.left.items()}
        finished = [name for name, left in self.left.items() if not left]
        for name in finished:
            del self.left[name]
        end = SimpleNamespace(
            token_ids=[1], logprobs=[{1: SimpleNamespace(logprob=-1.0)}], text="", finish_reason="stop"
        )
        return [SimpleNamespace(finished=True, request_id=name, outputs=[end]) for name in finished]


async def scenario(engine: ColocatedEngine, vllm: Pretended) -> dict[str, Any]:
    """Sample at once, across a sync with an aborted request, and from an engine that fails."""
    found: dict[str, Any] = {}
    await engine.mark_synced(1)
    await asyncio.gather(*(engine.generate([1], 0, 8) for _ in range(3)))
    found["together"], vllm.did = vllm.did, []

    dropped, across = (asyncio.create_task(engine.generate([1], 0, 8)) for _ in range(2))
    while "step" not in vllm.did:
        await asyncio.sleep(SECONDS / 4)
    await engine.pause(2)
    await engine._do(lambda _: None)  # after the step in progress
    held = list(vllm.did)
    dropped.cancel()
    await asyncio.sleep(5 * SECONDS)
    found["held"] = vllm.did == held
    await engine.resume()
    await engine.mark_synced(2)
    sample = await across
    found["versions"] = [sample.version, sample.last_version]
    found["aborted"] = [each for each in vllm.did if each.startswith("abort")]

    vllm.fails, found["errors"] = True, []
    for _ in range(2):
        try:
            await engine.generate([1], 0, 8)
        except TrainerError as error:
            found["errors"].append(str(error))
    return found


async def run() -> dict[str, Any]:
    said = {"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": {"engine": "colocated"}}
    engine, vllm = ColocatedEngine(resolve(said)), Pretended()
    engine._llm = SimpleNamespace(llm_engine=vllm, reset_prefix_cache=lambda **_: True)
    engine._start_stepping()
    found = await scenario(engine, vllm)
    await engine.close()
    return found


def main(_: Sequence[str]) -> int:
    print(json.dumps(asyncio.run(run())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
