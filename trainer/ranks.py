"""The process group of the trainer's ranks, and collectives for Python objects and small tensors.

Ranks are started by torchrun or `deepspeed`; without a launcher there is one rank. Collectives here use a gloo group of
their own in host memory, and pickle objects. Gradients and parameters are exchanged by DeepSpeed.
"""

import os
from datetime import timedelta
from typing import Any, Self, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import HashStore

from trainer.errors import ConfigError

T = TypeVar("T")

ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}  # the variables that a launcher sets for a single process
TIMEOUT = timedelta(days=7)  # ranks wait while rank 0 samples; if rank 0 dies, its connections close at once


class Ranks:
    """This process and its process group."""

    def __init__(self, group: dist.ProcessGroup, local: int) -> None:
        self._group = group
        self.local = local  # the index of this process, and of its GPU, on its machine
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)
        self.local_size = max(self.gather(local)) + 1  # of the machine with most ranks

    @classmethod
    def join(cls) -> Self:
        """Join the process group. Call once a process, on all ranks."""
        is_alone = "RANK" not in os.environ
        if is_alone:
            os.environ.update(ALONE)  # DeepSpeed reads them as well
        local = int(os.environ["LOCAL_RANK"])
        if torch.cuda.is_available():
            torch.cuda.set_device(local)
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        if is_alone:  # a single process needs no port
            dist.init_process_group(backend, store=HashStore(), rank=0, world_size=1)
        else:
            dist.init_process_group(backend)
        return cls(dist.new_group(backend="gloo", timeout=TIMEOUT), local)

    @property
    def is_leader(self) -> bool:
        return self.rank == 0

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", self.local) if torch.cuda.is_available() else torch.device("cpu")

    def sequence_group(self, size: int) -> Any:
        """Return the group of `size` neighbouring ranks that this one is in, None for 1. Raise ConfigError if odd."""
        if self.size % size:
            raise ConfigError(f"deepspeed.sequence_parallel is {size}, which does not divide {self.size} ranks")
        groups = [dist.new_group(list(range(first, first + size))) for first in range(0, self.size, size) if size > 1]
        return groups[self.rank // size] if groups else None

    def broadcast(self, thing: T | None = None) -> T:
        """Return rank 0's object (thing) on all ranks."""
        box: list[Any] = [thing]
        dist.broadcast_object_list(box, src=0, group=self._group)
        return box[0]  # type: ignore[no-any-return]

    def gather(self, own: T) -> list[T]:
        """Return the objects of all ranks on all ranks."""
        everyone: list[Any] = [None] * self.size
        dist.all_gather_object(everyone, own, group=self._group)
        return everyone

    def concatenate(self, own: Tensor) -> Tensor:
        """Return the tensors [m] of all ranks, each with its own m, joined in host memory."""
        return torch.cat(self.gather(own.cpu()))

    def wait(self) -> None:
        dist.barrier(group=self._group)

    def close(self) -> None:
        """Destroy the default process group, unless a colocated vLLM already did. No policy may be used afterwards."""
        if dist.is_initialized():
            dist.destroy_process_group()
