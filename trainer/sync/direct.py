"""Weights within one process: vLLM is given the tensors."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket, unpack


class DirectTransport(Transport):
    """For an engine in this process."""

    def __init__(self, call: Call, bucket_bytes: int) -> None:
        super().__init__(call, bucket_bytes)
        if torch.cuda.is_available():
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            self._call("proctor_load_tensors", unpack(bucket.places, bucket.payload)).result()
