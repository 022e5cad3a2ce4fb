"""Updates vLLM's weights: pause, send, verify, resume.

There are three checks. Each worker reports the version and the checksum of the received bits; where comparable, the
checksum of its model's weights; and finally vLLM scores a probe of tokens, which must agree with the trainer's scores
by the mean of the differences and by a high quantile: kernels in bfloat16 disagree much about single unlikely tokens.
"""

import math
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from trainer.config import Config, logprob_bound
from trainer.engines import Engine
from trainer.engines.process import Notice
from trainer.errors import InterruptedGenerationError, StaleWeightsError
from trainer.sync.broadcast import BroadcastTransport
from trainer.sync.delta import DeltaSender
from trainer.sync.transports import Call, Delivery, FileTransport, MemoryTransport, Transport, Weights

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
        self._notice = notice
        self._sender = make_sender(config, lambda method, *arguments: begin(engine.rpc(method, *arguments)), notice)
        self.probe = list(probe_ids)
        self._max_gap = logprob_bound(config.sync.max_probe_gap, config.model.dtype)  # mean, in nats

    def send(self, version: int, weights: Weights, score: Score) -> Delivery | None:
        """Return the verified transfer of a version of the weights, None if vLLM was restarted and needs another sync.

        `score` returns the trainer's log-probabilities of the probe. In all cases `weights` is exhausted once and
        `score` is called once, so that other ranks can run the same collectives.

        Raises:
            StaleWeightsError: vLLM does not have the weights or does not use them.
            UnavailableError: vLLM did not return in time.
        """
        stream, interrupted = iter(weights), None
        try:
            self._do(self._engine.pause(version))
            delivery = self._sender.send(version, stream)
            self._do(self._engine.resume())
        except InterruptedGenerationError as error:
            interrupted = error
        deque(stream, maxlen=0)
        ours = score(self.probe)
        try:
            if interrupted:
                raise interrupted
            theirs = self._do(self._engine.score(self.probe))
        except InterruptedGenerationError as error:
            self._notice(f"the sync of version {version} was interrupted: {error}")
            self._do(self._engine.wait_until_healthy())
            return None
        if not all(map(math.isfinite, ours)):
            raise StaleWeightsError(
                f"version {version}: the model's own log-probabilities are not finite: its weights are damaged, or the "
                "training diverged (optimiser.lr)"
            )
        gap, high = (max(each) for each in zip(*(probe_gap(ours, scores) for scores in theirs), strict=True))
        if not (gap <= self._max_gap and high <= QUANTILE_FACTOR * self._max_gap):
            raise StaleWeightsError(
                f"version {version}: vLLM's log-probabilities of a probe of {len(ours)} tokens are off by {gap:.3g} on "
                f"average and by {high:.3g} at the {QUANTILE} quantile, more than {self._max_gap:g} or "
                f"{QUANTILE_FACTOR * self._max_gap:g} (sync.max_probe_gap): it does not use the synced weights"
            )
        self._do(self._engine.mark_synced(version))
        return replace(delivery, gap=gap)

    def close(self) -> None:
        self._sender.close()

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
    sync, has_gpu = config.sync, torch.cuda.is_available()
    transport: Transport
    match transport_of(config, has_gpu):
        case "file":
            transport = FileTransport(call, sync.bucket_bytes, Path(sync.folder))
        case "memory":
            transport = MemoryTransport(call, sync.bucket_bytes, "cuda" if has_gpu else "cpu")
        case _:
            url = next(iter(config.rollout.servers), "http://127.0.0.1")
            backend = "nccl" if has_gpu else "gloo"
            transport = BroadcastTransport(call, sync.bucket_bytes, backend, url, sync.timeout_seconds)
    return DeltaSender(transport, call, sync.full_every, notice) if sync.delta else transport


def transport_of(config: Config, has_gpu: bool) -> str:
    """Return the transport: memory for a vLLM in this process, otherwise the configured one.

    "auto" is broadcast between GPUs (has_gpu) if servers have GPUs of their own: NCCL needs one for each member.
    """
    rollout = config.rollout
    if rollout.engine == "colocated":
        return "memory"
    if config.sync.transport != "auto":
        return config.sync.transport
    return "broadcast" if has_gpu and (rollout.servers or rollout.devices) and not rollout.turns else "file"
