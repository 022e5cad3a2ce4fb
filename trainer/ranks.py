"""The processes that train together: who we are, and how plain objects get from one to the others.

Started by torchrun, by `deepspeed` or by nobody: then we are the only one. What is sent here are small things in the
host's memory, on a gloo group of its own; gradients and parameters are DeepSpeed's affair.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import HashStore

from trainer.episode import Tally

T = TypeVar("T")

ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}  # what a launcher would have told the only process
PATIENCE = timedelta(days=7)  # the other ranks wait while rank 0 samples; if it dies, its connections end at once


class Ranks:
    """This process among those that train together."""

    def __init__(self, group: dist.ProcessGroup, local: int) -> None:
        self._group = group
        self.local = local  # the number of this process on its machine, and of its GPU
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)

    @classmethod
    def join(cls) -> Ranks:
        """Meet the others. Once in a process; all ranks do."""
        is_alone = "RANK" not in os.environ
        if is_alone:
            os.environ.update(ALONE)  # DeepSpeed reads them too
        local = int(os.environ["LOCAL_RANK"])
        if torch.cuda.is_available():
            torch.cuda.set_device(local)
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        if is_alone:  # nobody to meet: no port, which somebody else might take
            dist.init_process_group(backend, store=HashStore(), rank=0, world_size=1)
        else:
            dist.init_process_group(backend)
        return cls(dist.new_group(backend="gloo", timeout=PATIENCE), local)

    @property
    def is_leader(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    @property
    def device(self) -> torch.device:
        """Where this rank computes."""
        return torch.device("cuda", self.local) if torch.cuda.is_available() else torch.device("cpu")

    def tell(self, thing: T | None = None) -> T:
        """What rank 0 says, on all ranks; what others say is not heard. Anything that pickles: these are our own."""
        box: list[Any] = [thing]
        dist.broadcast_object_list(box, src=0, group=self._group)
        return box[0]  # type: ignore[no-any-return]

    def join_tallies(self, tally: Tally) -> Tally:
        """What all ranks have seen, on all ranks, added in the order of the ranks."""
        total = Tally()
        for each in self.gather(tally):
            total.join(each)
        return total

    def gather(self, own: T) -> list[T]:
        """What each rank gives, on all ranks."""
        everyone: list[Any] = [None] * self.size
        dist.all_gather_object(everyone, own, group=self._group)
        return everyone

    def concatenate(self, own: Tensor) -> Tensor:
        """The tensors [m] of all ranks, one after the other, on the host; m may differ."""
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(lengths, torch.tensor([own.numel()]), group=self._group)
        longest = max(int(length) for length in lengths)
        padded = torch.zeros(longest, dtype=own.dtype)
        padded[: own.numel()] = own.cpu()
        everyone = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(everyone, padded, group=self._group)
        return torch.cat([each[: int(length)] for each, length in zip(everyone, lengths, strict=True)])

    def wait(self) -> None:
        """Until all are here."""
        dist.barrier(group=self._group)

    def close(self) -> None:
        """Leave. No policy may be used after it. A vLLM of this process may have done so for us."""
        if dist.is_initialized():
            dist.destroy_process_group()
