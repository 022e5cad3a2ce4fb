"""Passes weights through safetensors files in a folder that vLLM sees: `/dev/shm` or a shared disk.

The simplest transport, and the default. It needs room for one copy of the model in that folder.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket, unpack


class FileTransport(Transport):
    """A transport by files, which are deleted after the update."""

    def __init__(self, call: Call, bucket_bytes: int, folder: Path) -> None:
        super().__init__(call, bucket_bytes)
        self._folder = folder

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        name = f"proctor-{os.getpid()}-{secrets.token_hex(4)}"
        paths: list[Path] = []
        try:
            for bucket in buckets:
                paths.append(self._folder / f"{name}-{len(paths)}.safetensors")
                _write(bucket, paths[-1])
            self._call("proctor_load_files", [str(path) for path in paths]).result()
        finally:
            for path in paths:
                path.unlink(missing_ok=True)


def read_weights(path: str, device: str) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of a file at a path in the order in which they were sent, on a device."""
    with safe_open(path, "pt", device=device) as file:
        for key in sorted(file.keys()):
            yield key.partition(":")[2], file.get_tensor(key)


def _write(bucket: Bucket, path: Path) -> None:
    """Write a file atomically. Keys begin with a number: safetensors has its own order, and adapters come first."""
    unfinished = path.with_suffix(".part")
    try:
        weights = enumerate(unpack(bucket.places, bucket.payload))
        tensors = {f"{number:08}:{name}": tensor.clone() for number, (name, tensor) in weights}
        save_file(tensors, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
