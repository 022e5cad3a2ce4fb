"""The steps and checks that all transports of weights share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from trainer.errors import StaleWeightsError
from trainer.sync.bucket import Bucket, pack
from trainer.sync.checksum import Checksum

Report = dict[str, Any]
Weights = Iterable[tuple[str, Tensor]]  # by Hugging Face name, each once; tied weights once
Call = Callable[..., "Future[list[Report]]"]  # (method, *arguments) → a future of all workers' answers
UpdateKind = Literal["full", "kept", "delta"]  # the kind of update; kept: full, and workers keep a copy


@dataclass(frozen=True)
class Delivery:
    """A transfer of weights."""

    sent: Checksum  # of all weights, transferred or not
    reports: list[Report]
    bytes: int
    seconds: float  # of the transfer; with the pause and the probe once it is verified
    kind: Literal["full", "delta"] = "full"
    density: float = 1.0  # share of numbers that changed since the last transfer; 1 if unknown
    gap: float = 0.0  # the mean difference of the probe's log-probabilities, in nats; the largest of all replicas


class Transport(ABC):
    """Sends weights to vLLM. Call it from the thread that gathers them, never from the event loop, which must run."""

    device = torch.device("cpu")  # where buckets are built

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        self._call = call
        self._bucket_bytes = bucket_bytes

    def send(
        self, version: int, weights: Weights, begin: UpdateKind = "full", coded: Callable[[Weights], Weights] = iter
    ) -> Delivery:
        """Return the delivery of all weights of a version; each is read once and in order.

        Args:
            version: The version of the weights.
            weights: Names and tensors.
            begin: The kind of update.
            coded: Encodes the weights for transfer; by default they are sent as they are.

        Raises:
            InterruptedGenerationError: vLLM became unavailable.
            StaleWeightsError: A worker did not receive the weights.
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

    def close(self) -> None:  # noqa: B027 - most have no resources
        """Release the transport's resources."""

    @abstractmethod
    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        """Send the buckets to all workers and load them there."""


def check_delivery(delivery: Delivery, version: int) -> None:
    """Compare the workers' reports with the version and the weights that were sent.

    Raises:
        StaleWeightsError: A worker has another version or other weights.
    """
    for number, report in enumerate(delivery.reports):
        worker = f"worker {number} of vLLM"
        if report["version"] != version:
            raise StaleWeightsError(f"{worker} has version {report['version']} and should have {version}")
        if report["received"] != delivery.sent.as_json():
            raise StaleWeightsError(
                f"{worker} received other weights than were sent: {report['received']}, and should be "
                f"{delivery.sent.as_json()}"
            )
        if report["held"] is not None and report["held"] != delivery.sent.plain:
            raise StaleWeightsError(
                f"{worker} received version {version} but its model does not hold it: the checksum is "
                f"{report['held']}, not {delivery.sent.plain}"
            )
