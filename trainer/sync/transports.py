"""The transports of weights, and the steps and checks that they share: files in a folder that vLLM sees, memory of one
process, and broadcasts. NCCL was not tested: it needs GPUs.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from trainer.errors import InterruptedGenerationError, StaleWeightsError
from trainer.sync.process_group import WeightGroup, local_address_towards
from trainer.sync.weights import Bucket, Checksum, pack, unpack

Report = dict[str, Any]
Weights = Iterable[tuple[str, Tensor]]  # by Hugging Face name, each once; tied weights once
Call = Callable[..., "Future[list[Report]]"]  # (method, *arguments) → a future of all workers' answers
UpdateKind = Literal["full", "kept", "delta"]  # the kind of update; kept: full, and workers keep a copy
POLL_SECONDS = 0.0005


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
        """Return the delivery of all weights of a version, in an update of a kind (`begin`); each is read once and in
        order.

        `coded` encodes the weights for transfer; by default they are sent as they are.

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
        finally:
            for path in paths:
                path.unlink(missing_ok=True)


def read_bucket(path: str, device: str) -> Bucket:
    """Return the bucket in a file at a path, on a device."""
    with safe_open(path, "pt", device=device) as file:
        return Bucket(json.loads(file.metadata()["places"]), file.get_tensor("payload"))


class MemoryTransport(Transport):
    """A transport to a vLLM in this process. One bucket exists at a time: vLLM has released it when it answers."""

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        super().__init__(call, bucket_bytes)
        if torch.cuda.is_available():
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            self._call("proctor_load_tensors", unpack(bucket.places, bucket.payload)).result()


class BroadcastTransport(Transport):
    """A transport by broadcast over gloo (host memory) or NCCL (GPU memory).

    The trainer and all workers of all servers form one group. It is created at the first update and again when the
    workers change, as after a server's restart. `url` is a server's, which determines the local address that workers
    connect to.
    """

    def __init__(
        self, call: Call, bucket_bytes: int, backend: Literal["gloo", "nccl"], url: str, seconds: float
    ) -> None:
        super().__init__(call, bucket_bytes)
        self._backend = backend
        self._seconds = seconds
        self._host = local_address_towards(urlsplit(url).hostname or "127.0.0.1")
        self._group: WeightGroup | None = None
        self._members: dict[str, int] = {}
        if backend == "nccl":
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        group = self._current_group()
        heard = self._call("proctor_receive")
        try:
            for bucket in buckets:
                group.send(bucket, lambda work: _wait(work, heard, self._seconds))
            group.send_end(lambda work: _wait(work, heard, self._seconds))
            heard.result()
        except BaseException:
            self.close()  # a worker may be blocked within a broadcast: the next update needs a new group
            raise

    def _current_group(self) -> WeightGroup:
        states = self._call("proctor_state").result()
        members = {state["process"]: rank for rank, state in enumerate(states, start=1)}
        if self._group is None or members != self._members:
            self.close()
            self._group = self._new_group(members)
            self._members = members
        return self._group

    def _new_group(self, members: dict[str, int]) -> WeightGroup:
        group = WeightGroup(self._backend, self._host, 0, 0, len(members) + 1, self._seconds, self._host)
        joined = self._call("proctor_join", self._backend, self._host, group.port, members, self._seconds)
        try:
            group.join()
        except RuntimeError as error:
            raise InterruptedGenerationError(f"vLLM did not join: {error}") from None
        joined.result()
        return group

    def close(self) -> None:
        self._group, self._members = None, {}


def _wait(work: Any, heard: Future[list[Report]], seconds: float) -> None:
    """Wait for a broadcast. If the workers' call ended early, raise its exception."""
    until = time.monotonic() + seconds
    while not work.is_completed():
        if heard.done():
            heard.result()
            break  # the workers received the end, so the broadcast is about to complete
        if time.monotonic() > until:
            raise InterruptedGenerationError(f"a broadcast took more than {seconds:g} s (sync.timeout_seconds)")
        time.sleep(POLL_SECONDS)
    try:
        work.wait()
    except RuntimeError as error:  # also torch's DistBackendError
        raise InterruptedGenerationError(f"a broadcast failed: {error}") from None
