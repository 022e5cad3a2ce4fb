"""A process group of the trainer's rank 0 and all vLLM workers, over which rank 0 broadcasts buckets. Used on both
sides.

It is never the default group, which in the trainer belongs to DeepSpeed and in a worker to vLLM. Messages are
self-describing: the length of a header, the header in JSON, the payload. A length of 0 ends the stream. NCCL was not
tested.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from trainer.sync.weights import Bucket

Work = Any


class WeightGroup:
    """A process group for weights. All members must be constructed concurrently."""

    def __init__(self, backend: str, host: str, port: int, rank: int, size: int, seconds: float, own: str = "") -> None:
        """Connect to the store at rank 0's host and port, of which 0 chooses a free one, within `seconds`.

        The backend is "gloo", which needs this member's `own` address, or "nccl".

        Raises:
            RuntimeError: The other members did not connect in time.
        """
        self.rank, self.size = rank, size
        timeout = timedelta(seconds=seconds)
        self._device = torch.device("cuda", torch.cuda.current_device()) if backend == "nccl" else torch.device("cpu")
        self._store = dist.TCPStore(  # type: ignore[attr-defined]
            host, port, size, rank == 0, timeout, wait_for_workers=False
        )
        self.port = self._store.port
        self._timeout, self._own = timeout, own
        self._group: Any = None

    def join(self) -> WeightGroup:
        """Wait until all members have joined."""
        store = dist.PrefixStore("proctor", self._store)  # type: ignore[attr-defined]
        options: Any
        group: Any
        if self._device.type == "cuda":
            options, group = dist.ProcessGroupNCCL.Options(), dist.ProcessGroupNCCL
        else:
            options, group = dist.ProcessGroupGloo._Options(), dist.ProcessGroupGloo  # type: ignore[attr-defined]
            options._devices = [dist.ProcessGroupGloo.create_device(hostname=self._own)]
        options._timeout = self._timeout
        self._group = group(store, self.rank, self.size, options)
        return self

    def send(self, bucket: Bucket, wait: Callable[[Work], None]) -> None:
        """Broadcast a bucket, on rank 0; `wait` waits for a broadcast to finish and may raise."""
        header = torch.frombuffer(bytearray(json.dumps(bucket.places).encode()), dtype=torch.uint8)
        lengths = torch.tensor([header.numel(), bucket.payload.numel()], dtype=torch.int64)
        for tensor in (lengths, header, bucket.payload):
            wait(self._broadcast(tensor.to(self._device)))

    def send_end(self, wait: Callable[[Work], None]) -> None:
        """Broadcast the end of the stream, on rank 0; see `send`."""
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

    def _broadcast(self, tensor: Tensor) -> Work:
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        return self._group.broadcast([tensor], options)


def local_address_towards(host: str) -> str:
    """Return this machine's address on the route to a host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))  # connecting a datagram socket sends nothing
        return str(probe.getsockname()[0])
