"""Updates vLLM's weights: pause, send, verify, resume.

There are three checks. Each worker reports the version and the checksum of the received bits; where comparable, the
checksum of its model's weights; and finally vLLM scores a probe of tokens, which must agree with the trainer's scores.
They catch a transport that does nothing, names that were not matched, and weights that were loaded but are not used.

The probe is judged by the mean of its differences and by a high quantile, not by the largest: kernels in bfloat16
disagree about single unlikely tokens by more than old weights do on average.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from trainer.config import Config, logprob_bound
from trainer.engines.base import Engine, Notice
from trainer.errors import InterruptedGenerationError, StaleWeightsError
from trainer.sync.delta import DeltaSender
from trainer.sync.transports import (
    BroadcastTransport,
    Call,
    Delivery,
    FileTransport,
    MemoryTransport,
    Transport,
    Weights,
)

Begin = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]  # starts a coroutine in the engine's event loop
Score = Callable[[Sequence[int]], Sequence[float]]  # token ids [n] → log-probabilities [n - 1] at temperature 1
QUANTILE = 0.95  # of the probe's differences
QUANTILE_FACTOR = 5.0  # its bound, as a multiple of the mean's


class Syncer:
    """Syncs weights from the training thread, while the engine's event loop runs in another."""

    def __init__(
        self, config: Config, engine: Engine, begin: Begin, probe_ids: Sequence[int], notice: Notice = print
    ) -> None:
        """Create the syncer of a run. The probe's token ids, at least two, are such as the model is likely to see."""
        self._engine = engine
        self._begin = begin
        self._sender = make_sender(config, lambda method, *arguments: begin(engine.rpc(method, *arguments)), notice)
        self._ids = list(probe_ids)
        self._max_gap = logprob_bound(config.sync.max_probe_gap, config.model.dtype)  # mean, in nats

    def send(self, version: int, weights: Weights, score: Score) -> Delivery | None:
        """Return the transfer of a version of the weights to vLLM, verified; None if vLLM was restarted and needs
        another sync.

        `score` returns the trainer's log-probabilities of the probe. In all cases `weights` is exhausted once and
        `score` is called once, so that other ranks can run the same collectives.

        Raises:
            StaleWeightsError: vLLM does not have the weights or does not use them.
            UnavailableError: vLLM did not return in time.
        """
        began, stream = time.monotonic(), iter(weights)
        delivery = self._deliver_weights(version, stream)
        deque(stream, maxlen=0)
        ours = score(self._ids)
        gaps = None if delivery is None else self._probe_gaps(ours)
        if delivery is None or gaps is None:
            self._do(self._engine.wait_until_healthy())
            return None
        gap, high = (max(figures) for figures in zip(*gaps, strict=True))
        if not (gap <= self._max_gap and high <= QUANTILE_FACTOR * self._max_gap):
            raise StaleWeightsError(
                f"version {version}: vLLM's log-probabilities of a probe of {len(ours)} tokens are off by {gap:.3g} on "
                f"average and by {high:.3g} at the {QUANTILE} quantile, more than {self._max_gap:g} or "
                f"{QUANTILE_FACTOR * self._max_gap:g} (sync.max_probe_gap): it does not use the synced weights"
            )
        self._do(self._engine.mark_synced(version))
        return replace(delivery, seconds=time.monotonic() - began, gap=gap)

    def close(self) -> None:
        self._sender.close()

    def _deliver_weights(self, version: int, stream: Iterator[tuple[str, Tensor]]) -> Delivery | None:
        try:
            self._do(self._engine.pause(version))
            delivery = self._sender.send(version, stream)
            self._do(self._engine.resume())
        except InterruptedGenerationError:
            return None
        return delivery

    def _probe_gaps(self, ours: Sequence[float]) -> list[tuple[float, float]] | None:
        """Return the figures of each replica, None if one became unavailable."""
        try:
            theirs = self._do(self._engine.score(self._ids))
        except InterruptedGenerationError:
            return None
        return [probe_gap(ours, scores) for scores in theirs]

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._begin(work).result()


def probe_gap(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return mean and 0.95 quantile of the differences of ours and theirs, both infinite if one is not a number."""
    gaps = sorted(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    if not all(map(math.isfinite, gaps)):
        return math.inf, math.inf
    return math.fsum(gaps) / len(gaps), gaps[math.ceil(QUANTILE * len(gaps)) - 1]


def make_sender(config: Config, call: Call, notice: Notice) -> Transport | DeltaSender:
    """Return the sender that the configuration selects."""
    sync, name = config.sync, transport_of(config, torch.cuda.is_available())
    transport: Transport
    if name == "file":
        transport = FileTransport(call, sync.bucket_bytes, Path(sync.folder))
    elif name == "memory":
        transport = MemoryTransport(call, sync.bucket_bytes)
    else:
        url = config.rollout.servers[0] if config.rollout.servers else "http://127.0.0.1"
        backend: Literal["gloo", "nccl"] = "nccl" if torch.cuda.is_available() else "gloo"
        transport = BroadcastTransport(call, sync.bucket_bytes, backend, url, sync.timeout_seconds)
    return DeltaSender(transport, call, sync.full_every, notice) if sync.delta else transport


def transport_of(config: Config, has_gpu: bool) -> str:
    """Return the transport: memory for a vLLM in this process, otherwise the configured one.

    "auto" is broadcast (NCCL) between GPUs (has_gpu), and file otherwise, also for servers that take turns with the
    ranks: NCCL needs a GPU for each member.
    """
    if config.rollout.engine == "colocated":
        return "memory"
    if config.sync.transport != "auto":
        return config.sync.transport
    return "broadcast" if has_gpu and not config.rollout.turns else "file"
