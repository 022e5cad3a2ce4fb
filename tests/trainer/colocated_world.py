"""Runs a colocated engine in a separate process, because vLLM leaves state behind in the process it ran in.

`python -m tests.trainer.colocated_world FOLDER` prints the results in JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.trainer.tiny import save_tiny
from tests.trainer.vllm_world import PROBE, Loop, Policy, configuration, prompts
from trainer.engines import start_engines
from trainer.errors import StaleWeightsError
from trainer.sync import Syncer


def main(arguments: Sequence[str]) -> int:
    """Sync, sample, sync again, sample."""
    import asyncio

    folder = Path(arguments[0])
    model = save_tiny(folder / "model")
    config, loop, policy = configuration(model, folder, engine="colocated"), Loop(), Policy(model)
    engine = loop.do(start_engines(config))
    syncer = Syncer(config, engine, loop.begin, PROBE)
    finished: list[int] = []

    async def one(number: int) -> float:
        sample = await engine.generate(prompts(64)[number], number, config.rollout.max_tokens)
        finished.append(number)
        return policy.gap(prompts(64)[number], sample)

    async def all_of_them() -> list[float]:
        return list(await asyncio.gather(*(one(number) for number in range(64))))

    found: dict[str, object] = {"waits": engine.needs_sync}
    for version in (1, 2):
        policy.move(version)
        synced = syncer.send(version, policy.weights(), policy.score)
        assert synced is not None
        found |= {
            f"probe {version}": synced.gap,
            f"held {version}": all(each["held"] is not None for each in synced.reports),
        }
        found[f"gap {version}"] = max(loop.do(all_of_them()))
    found["in order"] = finished == list(range(64)) * 2
    found["stale"] = _stale(syncer, policy)
    loop.do(engine.close())
    print(json.dumps(found))
    return 0


def _stale(syncer: Syncer, policy: Policy) -> str:
    """Weights that are sent, and others that are meant."""
    sent = [(name, tensor.clone()) for name, tensor in policy.weights()]
    policy.move(3)
    try:
        syncer.send(3, sent, policy.score)
    except StaleWeightsError as trouble:
        return str(trouble)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
