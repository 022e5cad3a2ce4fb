"""A process group of our own with vLLM's workers in it: rank 0 says, the others hear. Both sides use this module.

Never the default group: that of the trainer is DeepSpeed's, and that of a vLLM worker is vLLM's. What is said
describes itself: a header's length, the header in JSON, the bytes; a length of 0 ends it. NCCL was not run here.
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

from trainer.sync.bucket import Bucket

Work = Any


class Circle:
    """Made by all its members at once, or it waits for them."""

    def __init__(self, backend: str, host: str, port: int, rank: int, size: int, seconds: float, own: str = "") -> None:
        """`host`, `port`: where rank 0 is; a port of 0 is a free one. `own`: our address, for gloo. Raises
        RuntimeError if the others do not come.
        """
        self.rank, self.size = rank, size
        timeout = timedelta(seconds=seconds)
        self._device = torch.device("cuda", torch.cuda.current_device()) if backend == "nccl" else torch.device("cpu")
        self._store = dist.TCPStore(  # type: ignore[attr-defined]
            host, port, size, rank == 0, timeout, wait_for_workers=False
        )
        self.port = self._store.port
        self._make = (_nccl if backend == "nccl" else _gloo)(timeout, own)
        self._group: Any = None

    def join(self) -> Circle:
        """Wait for all."""
        store = dist.PrefixStore("proctor", self._store)  # type: ignore[attr-defined]
        self._group = self._make(store, self.rank, self.size)
        return self

    def say(self, bucket: Bucket, wait: Callable[[Work], None]) -> None:
        """Rank 0: to all others. `wait` waits for a broadcast to be done, and may give up."""
        header = torch.frombuffer(bytearray(json.dumps(bucket.places).encode()), dtype=torch.uint8)
        lengths = torch.tensor([header.numel(), bucket.payload.numel()], dtype=torch.int64)
        for tensor in (lengths, header, bucket.payload):
            wait(self._broadcast(tensor.to(self._device)))

    def end(self, wait: Callable[[Work], None]) -> None:
        """Rank 0: that was all."""
        wait(self._broadcast(torch.zeros(2, dtype=torch.int64, device=self._device)))

    def hear(self) -> Iterator[Bucket]:
        """The others: what rank 0 says, until it ends."""
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


def _gloo(timeout: timedelta, own: str) -> Callable[..., Any]:
    options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._timeout = timeout
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=own)]
    return lambda store, rank, size: dist.ProcessGroupGloo(store, rank, size, options)


def _nccl(timeout: timedelta, _: str) -> Callable[..., Any]:
    options = dist.ProcessGroupNCCL.Options()
    options._timeout = timeout
    return lambda store, rank, size: dist.ProcessGroupNCCL(store, rank, size, options)


def address_towards(host: str) -> str:
    """Our own address, as `host` would reach us."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))  # a datagram socket: nothing is sent
        return str(probe.getsockname()[0])
