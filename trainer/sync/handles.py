"""A tensor on a GPU, told to another process on the same GPU: CUDA's own handle, as JSON. Not run here: no GPU.

The numbers are those that torch.multiprocessing.reductions uses. The process that owns the memory must keep the
tensor until the other has let go of it. Both may number their GPUs differently, so a GPU is told by its UUID.
"""

from __future__ import annotations

import base64
from typing import Any

import torch
from torch import Tensor

FIELDS = (
    "storage_handle",
    "storage_size_bytes",
    "storage_offset_bytes",
    "ref_counter_handle",
    "ref_counter_offset",
    "event_handle",
    "event_sync_required",
)


def handle_of(payload: Tensor) -> dict[str, Any]:
    """A handle to [bytes] uint8 on a GPU. Waits until what is written there has been written."""
    torch.cuda.synchronize(payload.device)
    _, *shared = payload.untyped_storage()._share_cuda_()  # type: ignore[no-untyped-call]
    told = {name: _text(value) for name, value in zip(FIELDS, shared, strict=True)}
    return told | {"start": payload.storage_offset(), "bytes": payload.numel(), "gpu": uuid_of(payload.device)}


def opened(handle: dict[str, Any], device: torch.device) -> Tensor:
    """The same memory in this process. Raises ValueError if it is on another GPU."""
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
    """Of a GPU."""
    return str(torch.cuda.get_device_properties(device).uuid)


def _text(value: object) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _bytes(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
