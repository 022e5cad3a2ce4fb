"""New weights for vLLM: pause, send, look, go on. What was not looked at is not believed.

Three looks. Each worker says which version it has, and what the bits that it received add up to; the same of what its
model holds, where that can be compared; and then vLLM is asked what it thinks of some tokens, and must think what we
think. A transport that does nothing, a name that was not found, weights that were set and are not computed with: each
has happened to somebody, without a word.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from trainer.config import Config
from trainer.engines.base import Engine, Interrupted, Notice
from trainer.errors import StaleWeights
from trainer.sync.base import Call, Sender, Transport, Weights
from trainer.sync.delivery import Delivery, Kind
from trainer.sync.delta import Delta
from trainer.sync.direct import DirectTransport
from trainer.sync.file import FileTransport
from trainer.sync.group import GroupTransport
from trainer.sync.ipc import IpcTransport

Begin = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]  # have it done in the engine's event loop
Score = Callable[[Sequence[int]], Sequence[float]]  # token ids [n] → our log-probabilities [n - 1] at temperature 1


@dataclass(frozen=True)
class Synced:
    """How it went."""

    version: int
    bytes: int
    seconds: float  # from the pause to the probe's end
    gap: float  # the most that the probe was off, in nats
    is_held_compared: bool  # whether also what vLLM holds was compared, bit by bit
    kind: Kind  # what arrived: after a delta that went wrong, a full one
    density: float  # of a delta: the share of the numbers that changed; of a full one: 1


class Syncer:
    """Used from the thread that trains, while the engine's event loop runs in another."""

    def __init__(self, engine: Engine, begin: Begin, sender: Sender, probe_ids: Sequence[int], max_gap: float):
        """`probe_ids`: some tokens that the model may well see, two at least."""
        self._engine = engine
        self._begin = begin
        self._sender = sender
        self._ids = list(probe_ids)
        self._max_gap = max_gap

    @classmethod
    def of(
        cls, config: Config, engine: Engine, begin: Begin, probe_ids: Sequence[int], notice: Notice = print
    ) -> Syncer:
        """As the configuration says."""
        sender = sender_of(config, lambda method, *arguments: begin(engine.rpc(method, *arguments)), notice)
        return cls(engine, begin, sender, probe_ids, config.sync.probe_bound(config.model.dtype))

    def send(self, version: int, weights: Weights, score: Score) -> Synced | None:
        """Have vLLM sample with these weights. Raises StaleWeights, Away.

        None: vLLM went away in the middle and is back; it needs a sync still. Whatever happens to vLLM, `weights` is
        gone through once and to its end and `score` is called once, so that other ranks can do so in step.
        """
        began, stream = time.monotonic(), iter(weights)
        delivery = self._delivered(version, stream)
        for _ in stream:
            pass
        ours = score(self._ids)
        gap = None if delivery is None else self._probed(ours)
        if delivery is None or gap is None:
            self._do(self._engine.settle())
            return None
        if not gap <= self._max_gap:
            raise StaleWeights(
                f"version {version}: vLLM's log-probabilities of a probe of {len(ours)} tokens are off by up "
                f"to {gap:.3g}, more than {self._max_gap:g} (sync.max_probe_gap): it does not compute with them"
            )
        self._begin(_called(self._engine.synced, version)).result()
        seconds = time.monotonic() - began
        is_compared, kind = delivery.is_held_compared, delivery.kind
        return Synced(version, delivery.bytes, seconds, gap, is_compared, kind, delivery.density)

    def close(self) -> None:
        """Let go of the way that weights take."""
        self._sender.close()

    def _delivered(self, version: int, stream: Iterator[tuple[str, Tensor]]) -> Delivery | None:
        try:
            self._do(self._engine.pause())
            delivery = self._sender.send(version, stream)
            self._do(self._engine.resume())
        except Interrupted:
            return None
        return delivery

    def _probed(self, ours: Sequence[float]) -> float | None:
        """The most that any vLLM is off; NaN if it is not a number."""
        try:
            theirs = [self._do(part.score(self._ids)) for part in self._engine.parts]
        except Interrupted:
            return None
        gaps = [abs(a - b) for scores in theirs for a, b in zip(ours, scores, strict=True)]
        return float("nan") if any(map(math.isnan, gaps)) else max(gaps)

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._begin(work).result()


async def _called(call: Callable[[int], None], version: int) -> None:
    call(version)


def sender_of(config: Config, call: Call, notice: Notice) -> Sender:
    """As the configuration says."""
    transport = transport_of(config, call)
    return Delta(transport, call, config.sync.full_every, notice) if config.sync.delta else transport


def transport_of(config: Config, call: Call) -> Transport:
    """As the configuration says; `direct` if the engine is in this process."""
    sync = config.sync
    if sync.transport == "file":
        return FileTransport(call, sync.bucket_bytes, Path(sync.folder))
    if sync.transport == "ipc":
        return IpcTransport(call, sync.bucket_bytes)
    if sync.transport == "direct":
        return DirectTransport(call, sync.bucket_bytes)
    url = config.rollout.servers[0] if config.rollout.servers else "http://127.0.0.1"
    return GroupTransport(call, sync.bucket_bytes, sync.transport, url, sync.timeout_seconds)
