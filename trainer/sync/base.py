"""One way for weights into vLLM. Which way is the transport's affair; what is checked after it is everybody's."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from trainer.sync.bucket import Bucket, pack
from trainer.sync.checksum import Checksum

Weights = Iterable[tuple[str, Tensor]]  # by the names that the model's own folder has, each once; tied ones once
Report = dict[str, Any]
Call = Callable[..., "Future[list[Report]]"]  # (method, *arguments) → the answers of all workers, one day


@dataclass(frozen=True)
class Delivery:
    """What was sent, and what each worker says of it."""

    sent: Checksum
    reports: list[Report]
    bytes: int
    seconds: float


class Transport(ABC):
    """Sends from the thread that calls it, which may be the one that must gather the weights; never from an event
    loop, which must run meanwhile.
    """

    device = torch.device("cpu")  # where buckets are made

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        self._call = call
        self._bucket_bytes = bucket_bytes

    def send(self, version: int, weights: Weights) -> Delivery:
        """All of them, each looked at once and in order. Raises Interrupted, StaleWeights."""
        began, sent, size = time.monotonic(), Checksum(), 0

        def buckets() -> Iterable[Bucket]:
            nonlocal size
            for bucket in pack(sent.over(weights), self._bucket_bytes, self.device):
                size += bucket.payload.numel()
                yield bucket

        self._call("proctor_begin").result()
        self._deliver(buckets())
        reports = self._call("proctor_end", version).result()
        return Delivery(sent, reports, size, time.monotonic() - began)

    @abstractmethod
    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        """To all workers, and into their models."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of what was made for it."""
