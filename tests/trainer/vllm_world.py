"""A real vLLM server with a tiny random model, started once, and the trainer's side of it.

Starting takes 15 to 40 s, so tests share the server; each starts with its own weights, synced and verified.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.markers import needs
from tests.trainer.tiny import save_tiny
from tests.trainer.vllm_digests import held_by_vllm
from trainer.config import Config, resolve
from trainer.engines.process import VllmProcess, arguments_of
from trainer.engines.server import ServerEngine
from trainer.engines.server_pool import ServerPool
from trainer.episode import Completion
from trainer.sync import Syncer
from trainer.sync.transports import Delivery

TEMPERATURE = 0.7
PROBE = [2, 10, 20, 30, 44, 7, 199, 100, 81, 3]
SECONDS = 600.0  # a guard against hanging
SABOTAGED = ("--worker-extension-cls", "tests.trainer.sabotage.Sabotaged")  # in place of the trainer's


@needs("vllm")
def need_vllm() -> None:
    """Skips, saying why, where there is none."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vllm is not installed: the trainer's environment has it")


class Loop:
    """An event loop in a thread, as rank 0 has it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.begin(work).result(SECONDS)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Policy:
    """The trainer's model: a tiny one in float32, whose weights can be moved."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM

        loader: Any = AutoModelForCausalLM
        self.model = loader.from_pretrained(folder, dtype=torch.float32).eval()

    def move(self, seed: int, by: float = 0.1) -> None:
        """Other weights than it ever had: enough of a move to tell apart."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator) * by)

    def change(self, seed: int) -> None:
        """Another number in one place of 50."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.add_(0.1 * (torch.rand(parameter.shape, generator=generator) < 0.02))

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """As DeepSpeed would give them: tied ones once."""
        yield from self.model.named_parameters()

    def score(self, ids: Sequence[int], temperature: float = 1.0) -> list[float]:
        """Log-probabilities of all tokens but the first."""
        with torch.no_grad():
            logits = self.model(torch.tensor([list(ids)])).logits[0, :-1].float() / temperature
        told = torch.log_softmax(logits, -1).gather(1, torch.tensor(list(ids)[1:])[:, None])
        return [float(value) for value in told[:, 0]]

    def gap(self, prompt: Sequence[int], completion: Completion) -> float:
        """The most that vLLM's log-probabilities of a sample differ from ours."""
        ours = self.score([*prompt, *completion.ids], TEMPERATURE)[len(prompt) - 1 :]
        return max(abs(a - b) for a, b in zip(ours, completion.logprobs, strict=True))


class World:
    """A server, a policy, and an engine between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = save_tiny(folder / "model")
        self.config = configuration(self.model, folder)
        self.loop = Loop()
        self.notices: list[str] = []
        self.process = VllmProcess([*arguments_of(self.config), *SABOTAGED], folder / "vllm.log")
        self.engine = self.engine_of()
        self.version = 0

    def engine_of(self, **more: Any) -> ServerEngine:
        """Another engine for the server, not opened yet; `process=None`: it is not ours."""
        said: dict[str, Any] = {"process": self.process, "notice": self.notices.append}
        return ServerEngine(self.config, self.process.url, **(said | more))

    def policy(self, seed: int) -> Policy:
        """A trainer's model as it began, moved."""
        policy = Policy(self.model)
        policy.move(seed)
        return policy

    def syncer(self, engine: ServerEngine | None = None, **sync: Any) -> Syncer:
        """For the session's engine or another."""
        config = self.config.model_copy(update={"sync": self.config.sync.model_copy(update=sync)})
        pool = ServerPool([engine or self.engine])
        return Syncer(config, pool, self.loop.begin, PROBE, self.notices.append)

    def sync(self, policy: Policy, syncer: Syncer | None = None) -> Delivery | None:
        """The next version."""
        self.version += 1
        return (syncer or self.syncer()).send(self.version, policy.weights(), policy.score)

    def step(self, policy: Policy, syncer: Syncer, seed: int) -> Delivery:
        """Change, sync, and see that vLLM's own parameters have the very bits."""
        policy.change(seed)
        synced = None
        while synced is None:
            synced = self.sync(policy, syncer)
        (said,) = self.loop.do(self.engine.rpc("digests"))
        assert said["digests"] == held_by_vllm(dict(policy.weights()), said["digests"])
        assert all(each["held"] is not None for each in synced.reports)
        return synced

    @contextmanager
    def sabotaged(self, kind: str) -> Iterator[None]:
        """Within it weights arrive as `kind` says; after it they are known to be none."""
        self.loop.do(self.engine.rpc("sabotage", kind))
        try:
            yield
        finally:
            self.loop.do(self.engine.rpc("sabotage", ""))

    def samples(self, prompts: Sequence[Sequence[int]], engine: ServerEngine | None = None) -> list[Completion]:
        """One of each, all at once."""
        samples: list[Completion] = self.begin(prompts, engine).result(SECONDS)
        return samples

    def begin(
        self, prompts: Sequence[Sequence[int]], engine: ServerEngine | None = None, max_tokens: int = 0
    ) -> Future[Any]:
        """The same, to be waited for."""

        async def all_of_them() -> list[Completion]:
            used, most = pool_of(engine or self.engine), max_tokens or self.config.rollout.max_tokens
            return await asyncio.gather(*(used.generate(ids, seed, most) for seed, ids in enumerate(prompts)))

        return self.loop.begin(all_of_them())

    def close(self) -> None:
        self.loop.do(self.engine.close())
        self.loop.close()


def pool_of(engine: ServerEngine) -> ServerPool:
    """One that waits as long as its server does."""
    return ServerPool([engine], engine._config.rollout.patience_seconds)


def configuration(model: Path, folder: Path, **rollout: Any) -> Config:
    """Of a run with a tiny model on a CPU."""
    return resolve(
        {
            "out": str(folder),
            "model": {"path": str(model), "dtype": "float32"},
            "data": {"train": ["none.jsonl"], "max_prompt_tokens": 64},
            "rollout": {"temperature": TEMPERATURE, "max_tokens": 24, "max_model_len": 1024}
            | {"patience_seconds": SECONDS}
            | rollout,
            "sync": {"bucket_bytes": 1 << 18},
        }
    )


def prompts(count: int) -> list[list[int]]:
    """Short, and all different."""
    return [[2, 10, 20, 30 + number] for number in range(count)]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Started once for all tests."""
    need_vllm()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    made = World(tmp_path_factory.mktemp("vllm"))
    try:
        made.loop.do(made.engine.open())
        yield made
    finally:
        made.close()


@pytest.fixture
def policy(world: World, request: pytest.FixtureRequest) -> Policy:
    """Weights of this test alone, which vLLM has."""
    made = world.policy(seed=sum(request.node.name.encode()))
    while world.sync(made) is None:
        pass
    return made
