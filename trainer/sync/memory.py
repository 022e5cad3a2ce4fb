"""Passes weights through memory: to a vLLM in this process as tensors, to one on the same GPU by CUDA IPC.

CUDA IPC, for a trainer and a server that share one GPU and take turns, was not tested: it needs a GPU. Handles are
JSON; their fields are those of torch.multiprocessing.reductions. The owning process must keep the tensor until the
other one has released it. Processes may number GPUs differently, so a GPU is identified by its UUID.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket, unpack

FIELDS = (
    "storage_handle",
    "storage_size_bytes",
    "storage_offset_bytes",
    "ref_counter_handle",
    "ref_counter_offset",
    "event_handle",
    "event_sync_required",
)


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


def make_handle(payload: Tensor) -> dict[str, Any]:
    """Return a handle, after pending writes to the payload (uint8, on a GPU) have finished."""
    torch.cuda.synchronize(payload.device)
    _, *shared = payload.untyped_storage()._share_cuda_()  # type: ignore[no-untyped-call]
    handle = {name: _text(value) for name, value in zip(FIELDS, shared, strict=True)}
    return handle | {"start": payload.storage_offset(), "bytes": payload.numel(), "gpu": uuid_of(payload.device)}


def open_handle(handle: dict[str, Any], device: torch.device) -> Tensor:
    """Return the tensor of a handle, whose memory is shared with the process that made it, on this process's device.

    Raises:
        ValueError: The memory is on another GPU.
    """
    if handle["gpu"] != uuid_of(device):
        raise ValueError(
            f"the weights are on GPU {handle['gpu']}, this worker is on {uuid_of(device)}: ipc needs one GPU"
        )
    torch.cuda.init()  # type: ignore[no-untyped-call]
    shared = [_bytes(handle[name]) for name in FIELDS]
    storage = torch.UntypedStorage._new_shared_cuda(device.index or 0, *shared)
    whole = torch.empty(0, dtype=torch.uint8, device=device).set_(storage)
    tensor: Tensor = whole[handle["start"] : handle["start"] + handle["bytes"]]
    return tensor


def uuid_of(device: torch.device) -> str:
    """Return a GPU's UUID."""
    return str(torch.cuda.get_device_properties(device).uuid)


def _text(value: object) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _bytes(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
