"""Weights within one GPU: vLLM reads them where we have them, by CUDA's handle. Not run here: no GPU.

For a trainer and a vLLM that share a GPU as two processes; NCCL cannot do it, because it wants a GPU for each rank.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket
from trainer.sync.handles import handle_of


class IpcTransport(Transport):
    """One bucket is there at a time: vLLM has let go of it when it answers."""

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        super().__init__(call, bucket_bytes)
        self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            self._call("proctor_load_handle", bucket.places, handle_of(bucket.payload)).result()
        torch.cuda.ipc_collect()  # type: ignore[no-untyped-call]
