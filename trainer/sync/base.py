"""One way for weights into vLLM. Which way is the transport's affair; what is checked after it is everybody's."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Literal, Protocol

import torch
from torch import Tensor

from trainer.sync.bucket import Bucket, pack
from trainer.sync.checksum import Checksum
from trainer.sync.delivery import Delivery, Report, check

Weights = Iterable[tuple[str, Tensor]]  # by the names that the model's own folder has, each once; tied ones once
Call = Callable[..., "Future[list[Report]]"]  # (method, *arguments) → the answers of all workers, one day
Begin = Literal["full", "kept", "delta"]  # what vLLM is told to expect; kept: full, and a copy is to be kept


class Sender(Protocol):
    """Gives vLLM weights, and may do so in more than one way."""

    def send(self, version: int, weights: Weights) -> Delivery:
        """All of them, each looked at once and in order. Raises Interrupted; StaleWeights if they did not arrive.

        From the thread that calls it, which may be the one that must gather the weights; never from an event loop,
        which must run meanwhile.
        """

    def close(self) -> None:
        """Let go of what was made for it."""


class Transport(ABC):
    """See Sender."""

    device = torch.device("cpu")  # where buckets are made

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        self._call = call
        self._bucket_bytes = bucket_bytes

    def send(
        self, version: int, weights: Weights, begin: Begin = "full", coded: Callable[[Weights], Weights] = iter
    ) -> Delivery:
        """See Sender; `coded`: what travels in their place."""
        began, sent, size = time.monotonic(), Checksum(), 0

        def buckets() -> Iterable[Bucket]:
            nonlocal size
            for bucket in pack(coded(sent.over(weights)), self._bucket_bytes, self.device):
                size += bucket.payload.numel()
                yield bucket

        self._call("proctor_begin", begin).result()
        self._deliver(buckets())
        reports = self._call("proctor_end", version).result()
        delivery = Delivery(sent, reports, size, time.monotonic() - began)
        check(delivery, version)
        return delivery

    @abstractmethod
    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        """To all workers, and into their models."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of what was made for it."""
