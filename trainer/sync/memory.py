"""Passes weights through memory: to a vLLM in this process as tensors, to one on the same GPU by CUDA IPC.

CUDA IPC, for a trainer and a server that share one GPU and take turns, was not tested: it needs a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket, unpack
from trainer.sync.cuda_handles import make_handle


class MemoryTransport(Transport):
    """A transport by memory. One bucket exists at a time: vLLM has released it when it answers."""

    def __init__(self, call: Call, bucket_bytes: int, is_same_process: bool) -> None:
        super().__init__(call, bucket_bytes)
        self._is_same_process = is_same_process
        if torch.cuda.is_available():
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            if self._is_same_process:
                self._call("proctor_load_tensors", unpack(bucket.places, bucket.payload)).result()
            else:
                self._call("proctor_load_handle", bucket.places, make_handle(bucket.payload)).result()
        if not self._is_same_process:
            torch.cuda.ipc_collect()  # type: ignore[no-untyped-call]
