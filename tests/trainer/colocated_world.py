"""A run of a colocated engine, in a process of its own: vLLM leaves much behind in the one that it was in.

`python -m tests.trainer.colocated_world FOLDER` prints what was found, in JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.trainer.tiny import save_tiny
from tests.trainer.vllm_world import PROBE, Loop, Policy, configuration, prompts
from trainer.engines import start_engines
from trainer.errors import StaleWeights
from trainer.sync import Syncer


def main(folder: Path) -> None:
    """Sync, sample, sync again, sample."""
    import asyncio

    model = save_tiny(folder / "model")
    config, loop, policy = configuration(model, folder, engine="colocated"), Loop(), Policy(model)
    engine = loop.do(start_engines(config))
    syncer = Syncer.of(config, engine, loop.begin, PROBE)
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
        found |= {f"probe {version}": synced.gap, f"held {version}": synced.is_held_compared}
        found[f"gap {version}"] = max(loop.do(all_of_them()))
    found["in order"] = finished == list(range(64)) * 2
    found["stale"] = _stale(syncer, policy)
    loop.do(engine.close())
    print(json.dumps(found))


def _stale(syncer: Syncer, policy: Policy) -> str:
    """Weights that are sent, and others that are meant."""
    sent = [(name, tensor.clone()) for name, tensor in policy.weights()]
    policy.move(3)
    try:
        syncer.send(3, sent, policy.score)
    except StaleWeights as trouble:
        return str(trouble)
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
