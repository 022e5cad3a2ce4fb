"""Sends deltas to two vLLM servers during training, kills one of them, and compares all weights bit for bit.

`python -m tests.trainer.delta_world` prints the size and time of each transfer and fails at the first wrong bit. The
model is in bfloat16 and updated by AdamW along random gradients, with float32 master weights as in the trainer.
`python -m benchmarks delta` runs it in the trainer's environment.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from tests.trainer.tiny import save_tiny
from tests.trainer.vllm_digests import held_by_vllm
from tests.trainer.vllm_world import PROBE, SABOTAGED, Loop, Policy, configuration
from trainer.config import Config
from trainer.engines.process import VllmProcess, arguments_of
from trainer.engines.server import ServerEngine
from trainer.engines.server_pool import ServerPool
from trainer.sync import Syncer
from trainer.sync.transports import Delivery


class Learner(Policy):
    """In bfloat16, with the numbers that learn in float32."""

    def __init__(self, folder: Path, lr: float) -> None:
        super().__init__(folder)
        self._masters = [parameter.detach().clone() for parameter in self.model.parameters()]
        self._optimiser = torch.optim.AdamW(self._masters, lr=lr)
        self._generator = torch.Generator().manual_seed(0)
        self.model.to(torch.bfloat16)

    def learn(self) -> None:
        """One step, whereto is all the same."""
        for master in self._masters:
            master.grad = torch.randn(master.shape, generator=self._generator)
        self._optimiser.step()
        with torch.no_grad():
            for parameter, master in zip(self.model.parameters(), self._masters, strict=True):
                parameter.copy_(master)


class World:
    """Two servers, started at once."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        model = save_tiny(folder / "model", hidden=options.hidden, layers=options.layers, heads=options.hidden // 32)
        config = configuration(model, folder)
        self.config = config.model_copy(update={"model": config.model.model_copy(update={"dtype": "bfloat16"})})
        self.learner = Learner(model, options.lr)
        self.loop = Loop()
        self.processes = [
            VllmProcess([*arguments_of(self.config), *SABOTAGED], folder / f"vllm{number}.log") for number in (0, 1)
        ]
        self.servers = [ServerEngine(self.config, each.url, notice, each) for each in self.processes]
        self.engine = ServerPool(self.servers)
        self.version = 0
        self.seconds = 0.0  # of the last sync, from pause to probe

    def open(self) -> None:
        """Wait for both."""

        async def both() -> None:
            await asyncio.gather(*(server.open() for server in self.servers))

        self.loop.do(both())

    def syncer(self, **sync: Any) -> Syncer:
        """To both."""
        config: Config = self.config.model_copy(
            update={"sync": self.config.sync.model_copy(update={"bucket_bytes": 64 << 20} | sync)}
        )
        return Syncer(config, self.engine, self.loop.begin, PROBE, notice)

    def step(self, syncer: Syncer) -> Delivery:
        """Learn, sync as the trainer's loop does, and see that every bit of both is right."""
        self.learner.learn()
        self.version += 1
        synced, self.seconds = None, 0.0
        while synced is None:
            began = time.monotonic()
            synced = syncer.send(self.version, self.learner.weights(), self.learner.score)
            self.seconds = time.monotonic() - began
        for said in self.loop.do(self.engine.rpc("digests")):
            expected = held_by_vllm(dict(self.learner.weights()), said["digests"])
            assert said["digests"] == expected, f"version {self.version}: a server holds other bits"
        return synced

    def close(self) -> None:
        self.loop.do(self.engine.close())
        self.loop.close()


def run(world: World, transport: str, steps: int) -> None:
    """Full ones with nothing kept, then deltas, with a bit that flips and a server that is killed; then the table."""
    plain = world.syncer(transport=transport)
    world.step(plain)  # the first makes connections
    rows = [("full, delta off", world.step(plain), world.seconds) for _ in range(5)]
    plain.close()
    syncer, killed, spoilt = world.syncer(transport=transport, delta=True), steps // 2, steps // 4
    for step in range(1, steps + 1):
        what = ""
        if step == killed:
            os.killpg(world.processes[1].pid, signal.SIGKILL)
            what = ", after a server was killed"
        if step == spoilt:
            world.loop.do(world.servers[0].rpc("sabotage", "corrupt once: last"))
            what = ", after a bit flipped"
        synced = world.step(syncer)
        rows.append((synced.kind + what, synced, world.seconds))
        print(f"{transport} {step}: {rows[-1][0]}, {synced.bytes} bytes, {world.seconds * 1000:.0f} ms", flush=True)
    syncer.close()
    assert {"full, after a server was killed", "full, after a bit flipped"} <= {kind for kind, *_ in rows}
    print(table(transport, rows), flush=True)


def table(transport: str, rows: Sequence[tuple[str, Delivery, float]]) -> str:
    """By kind: how often, and the medians."""

    def lines() -> Iterator[str]:
        yield f"\n| {transport} | syncs | numbers that changed | bytes | ms, pause to probe |\n|---|---|---|---|---|"
        for kind in dict.fromkeys(name for name, *_ in rows):
            mine = [synced for name, synced, _ in rows if name == kind]
            density, size = (
                statistics.median(getattr(synced, name) for synced in mine) for name in ("density", "bytes")
            )
            seconds = statistics.median(each for name, _, each in rows if name == kind)
            share = f"{density:.2%}" if mine[0].kind == "delta" else "not looked at"
            yield f"| {kind} | {len(mine)} | {share} | {size:,.0f} | {seconds * 1000:,.0f} |"

    return "\n".join(lines())


def notice(line: str) -> None:
    """Beside the table."""
    print(f"  {line}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run, and say by the exit code whether every bit was right."""
    parser = argparse.ArgumentParser(prog="delta", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--transport", nargs="+", choices=["file", "broadcast"], default=["file", "broadcast"])
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-6)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="delta-"))
        world = World(Path(folder), options)
        stack.callback(world.close)
        world.open()
        count = sum(weight.numel() for _, weight in world.learner.weights())
        print(f"{count:,} numbers in bfloat16, {options.steps} steps at a learning rate of {options.lr:g}, two servers")
        for transport in options.transport:
            run(world, transport, options.steps)
    print(f"\nall bits of both servers were right after each sync ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
