"""The steps and checks that all transports share, and two: by files in a folder that vLLM sees, and in one process."""

import json
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from trainer.errors import StaleWeightsError, TrainerError
from trainer.sync.weights import Bucket, Checksum, pack, unpack

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
    kind: Literal["full", "delta"] = "full"
    density: float = 1.0  # share of numbers that changed since the last transfer; 1 if unknown
    gap: float = 0.0  # the mean difference of the probe's log-probabilities, in nats; the largest of all replicas


class Transport(ABC):
    """Sends weights to vLLM. Call it from the thread that gathers them, never from the event loop, which must run."""

    def __init__(self, call: Call, bucket_bytes: int, device: str = "cpu") -> None:
        self._call = call
        self._bucket_bytes = bucket_bytes
        self._device = torch.device(device)  # where buckets are built

    def send(
        self, version: int, weights: Weights, begin: UpdateKind = "full", coded: Callable[[Weights], Weights] = iter
    ) -> Delivery:
        """Return the delivery of all weights of a version, read once and in order, in an update of a kind (`begin`).

        `coded` encodes the weights for transfer; by default they are sent as they are. The errors are those of
        `check_delivery`, and an InterruptedGenerationError if vLLM became unavailable.
        """
        sent, size = Checksum(), 0

        def buckets() -> Iterable[Bucket]:
            nonlocal size
            for bucket in pack(coded(sent.tee(weights)), self._bucket_bytes, self._device):
                size += bucket.payload.numel()
                yield bucket

        self._call("proctor_begin", begin).result()
        self._deliver(buckets())
        delivery = Delivery(sent, self._call("proctor_end", version).result(), size)
        check_delivery(delivery, version)
        return delivery

    def close(self) -> None:  # noqa: B027 - most transports hold nothing
        """Release the transport's resources."""

    @abstractmethod
    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        """Send the buckets to all workers and load them there."""


def check_delivery(delivery: Delivery, version: int) -> None:
    """Compare the workers' reports with the version and the weights that were sent. Raise StaleWeightsError."""
    sent = delivery.sent
    for number, report in enumerate(delivery.reports):
        received, held = report["received"], report["held"]
        faults = {
            f"has version {report['version']} and should have {version}": report["version"] != version,
            f"received other weights than were sent: {received}, not {sent.as_json()}": received != sent.as_json(),
            f"received version {version} but its model does not hold it: the checksum is {held}, not {sent.plain}": (
                held not in (None, sent.plain)
            ),
        }
        if fault := next((fault for fault, is_so in faults.items() if is_so), None):
            raise StaleWeightsError(f"worker {number} of vLLM {fault}")


class FileTransport(Transport):
    """A transport by safetensors files, which are deleted after the update; the folder needs room for one model."""

    def __init__(self, call: Call, bucket_bytes: int, folder: Path) -> None:
        super().__init__(call, bucket_bytes)
        self._folder = folder

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        name = f"proctor-{os.getpid()}-{secrets.token_hex(4)}"
        paths: list[Path] = []
        try:
            for bucket in buckets:
                paths.append(self._folder / f"{name}-{len(paths)}.safetensors")
                save_file({"payload": bucket.payload}, paths[-1], {"places": json.dumps(bucket.places)})
            self._call("proctor_load_files", [str(path) for path in paths]).result()
        except (OSError, SafetensorError) as error:
            raise TrainerError(f"sync.folder: {self._folder} has no room for the weights: {error}") from None
        finally:
            for path in paths:
                path.unlink(missing_ok=True)


def read_bucket(path: str, device: str) -> Bucket:
    """Return the bucket in a file at a path, on a device."""
    with safe_open(path, "pt", device=device) as file:
        return Bucket(json.loads(file.metadata()["places"]), file.get_tensor("payload"))


class MemoryTransport(Transport):
    """A transport to a vLLM in this process. One bucket exists at a time: vLLM has released it when it answers."""

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            self._call("proctor_load_tensors", unpack(bucket.places, bucket.payload)).result()
