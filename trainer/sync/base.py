"""The interface of weight transports, and the steps and checks that all of them share."""

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
from trainer.sync.delivery import Delivery, Report, check_delivery

Weights = Iterable[tuple[str, Tensor]]  # by Hugging Face name, each once; tied weights once
Call = Callable[..., "Future[list[Report]]"]  # (method, *arguments) → a future of all workers' answers
UpdateKind = Literal["full", "kept", "delta"]  # the kind of update; kept: full, and workers keep a copy


class Sender(Protocol):
    """Sends weights to vLLM."""

    def send(self, version: int, weights: Weights) -> Delivery:
        """Send all weights; each is read once and in order.

        Call it from the thread that gathers the weights, never from the event loop, which must run meanwhile.

        Args:
            version: The version of the weights.
            weights: Names and tensors.

        Raises:
            InterruptedGenerationError: vLLM became unavailable.
            StaleWeightsError: A worker did not receive the weights.
        """

    def close(self) -> None:
        """Release the transport's resources."""


class Transport(ABC):
    """A Sender; subclasses implement `_deliver`."""

    device = torch.device("cpu")  # where buckets are built

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        self._call = call
        self._bucket_bytes = bucket_bytes

    def send(
        self, version: int, weights: Weights, begin: UpdateKind = "full", coded: Callable[[Weights], Weights] = iter
    ) -> Delivery:
        """Send weights; see Sender.

        Args:
            version: The version of the weights.
            weights: Names and tensors.
            begin: The kind of update.
            coded: Encodes the weights for transfer; by default they are sent as they are.

        Returns:
            The sent bytes and times.
        """
        began, sent, size = time.monotonic(), Checksum(), 0

        def buckets() -> Iterable[Bucket]:
            nonlocal size
            for bucket in pack(coded(sent.tee(weights)), self._bucket_bytes, self.device):
                size += bucket.payload.numel()
                yield bucket

        self._call("proctor_begin", begin).result()
        self._deliver(buckets())
        reports = self._call("proctor_end", version).result()
        delivery = Delivery(sent, reports, size, time.monotonic() - began)
        check_delivery(delivery, version)
        return delivery

    @abstractmethod
    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        """Send the buckets to all workers and load them there."""

    def close(self) -> None:  # noqa: B027 - most have no resources
        """Release the transport's resources."""
