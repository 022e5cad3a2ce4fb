"""Broadcasts weights from the trainer's rank 0 to all vLLM workers, in a process group of their own.

Messages are self-describing: the length of a header, the header in JSON, the payload. A length of 0 ends the stream.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import torch
import torch.distributed as dist
from torch import Tensor

from trainer.errors import InterruptedGenerationError, TrainerError
from trainer.sync.transports import Call, Report, Transport
from trainer.sync.weights import Bucket

POLL_SECONDS = 0.0005


class BroadcastTransport(Transport):
    """A transport by broadcast over a backend, gloo (host memory) or nccl (GPU memory).

    The trainer and all workers of all servers form one group, created at the first update and again when the workers
    change. Workers connect to this machine's address on the route to a server's URL.
    """

    def __init__(self, call: Call, bucket_bytes: int, backend: str, url: str, seconds: float) -> None:
        super().__init__(call, bucket_bytes, "cuda" if backend == "nccl" else "cpu")
        self._backend = backend
        self._seconds = seconds
        self._host = local_address_towards(urlsplit(url).hostname or "127.0.0.1")
        self._group: WeightGroup | None = None
        self._members: dict[str, int] = {}

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        group = self._current_group()
        heard = self._call("proctor_receive")
        try:
            group.send(buckets, lambda work: _wait(work, heard, self._seconds))
            heard.result()
        except BaseException as error:
            self.close()  # a worker may be blocked within a broadcast: the next update needs a new group
            if isinstance(error, dist.DistBackendError):
                raise TrainerError(f"{error}\nset rollout.devices, or sync.transport = 'file'") from None
            raise

    def _current_group(self) -> WeightGroup:
        states = self._call("proctor_state").result()
        members = {state["process"]: rank for rank, state in enumerate(states, start=1)}
        if self._group is None or members != self._members:
            self.close()
            group = WeightGroup(self._backend, self._host, 0, 0, len(members) + 1, self._seconds, self._host)
            joined = self._call("proctor_join", self._backend, self._host, group.port, members, self._seconds)
            try:
                group.join()
            except RuntimeError as error:
                raise InterruptedGenerationError(f"vLLM did not join: {error}") from None
            joined.result()
            self._group, self._members = group, members
        return self._group

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


class WeightGroup:
    """A process group for weights. All members must be constructed concurrently."""

    def __init__(self, backend: str, host: str, port: int, rank: int, size: int, seconds: float, own: str = "") -> None:
        """Connect to the store at rank 0's host and port (0: a free one) within `seconds`, or raise RuntimeError.

        The backend is "gloo", which needs this member's `own` address, or "nccl".
        """
        self.rank, self.size, self._own = rank, size, own
        self._timeout = timedelta(seconds=seconds)
        self._device = torch.device("cuda", torch.cuda.current_device()) if backend == "nccl" else torch.device("cpu")
        self._store = dist.TCPStore(  # type: ignore[attr-defined]
            host, port, size, rank == 0, self._timeout, wait_for_workers=False
        )
        self.port = self._store.port
        self._group: Any = None

    def join(self) -> WeightGroup:
        """Wait until all members have joined."""
        options: Any
        group: Any
        if self._device.type == "cuda":
            options, group = dist.ProcessGroupNCCL.Options(), dist.ProcessGroupNCCL
        else:
            options, group = dist.ProcessGroupGloo._Options(), dist.ProcessGroupGloo  # type: ignore[attr-defined]
            options._devices = [dist.ProcessGroupGloo.create_device(hostname=self._own)]
        options._timeout = self._timeout
        self._group = group(self._store, self.rank, self.size, options)
        return self

    def send(self, buckets: Iterable[Bucket], wait: Callable[[Any], None]) -> None:
        """Broadcast buckets and the end, on rank 0; `wait` waits for a broadcast to finish and may raise."""
        for bucket in buckets:
            header = torch.frombuffer(bytearray(json.dumps(bucket.places).encode()), dtype=torch.uint8)
            lengths = torch.tensor([header.numel(), bucket.payload.numel()])
            for tensor in (lengths, header, bucket.payload):
                wait(self._broadcast(tensor.to(self._device)))
        wait(self._broadcast(torch.zeros(2, dtype=torch.int64, device=self._device)))

    def receive(self) -> Iterator[Bucket]:
        """Yield rank 0's buckets until the end of the stream, on other ranks."""
        while True:
            lengths = self._heard(torch.empty(2, dtype=torch.int64, device=self._device)).tolist()
            if not lengths[0]:
                return
            header = self._heard(torch.empty(lengths[0], dtype=torch.uint8, device=self._device))
            payload = self._heard(torch.empty(lengths[1], dtype=torch.uint8, device=self._device))
            yield Bucket(json.loads(bytes(header.cpu().numpy())), payload)

    def _heard(self, into: Tensor) -> Tensor:
        self._broadcast(into).wait()
        return into

    def _broadcast(self, tensor: Tensor) -> Any:
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        return self._group.broadcast([tensor], options)


def local_address_towards(host: str) -> str:
    """Return this machine's address on the route to a host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))  # connecting a datagram socket sends nothing
        return str(probe.getsockname()[0])
