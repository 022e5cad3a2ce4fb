"""Broadcasts weights over gloo (host memory) or NCCL (GPU memory). NCCL was not tested.

The trainer and all workers of all servers form one group. It is created at the first update and again when the workers
change, as after a server's restart.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Literal
from urllib.parse import urlsplit

import torch

from trainer.engines.base import InterruptedGenerationError
from trainer.sync.base import Call, Report, Transport
from trainer.sync.bucket import Bucket
from trainer.sync.process_group import WeightGroup, local_address_towards

POLL_SECONDS = 0.0005


class BroadcastTransport(Transport):
    """A transport by broadcast. `url` is a server's, which determines the local address that workers connect to."""

    def __init__(
        self, call: Call, bucket_bytes: int, backend: Literal["gloo", "nccl"], url: str, seconds: float
    ) -> None:
        super().__init__(call, bucket_bytes)
        self._backend = backend
        self._seconds = seconds
        self._host = local_address_towards(urlsplit(url).hostname or "127.0.0.1")
        self._group: WeightGroup | None = None
        self._members: dict[str, int] = {}
        if backend == "nccl":
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        group = self._current_group()
        heard = self._call("proctor_receive")
        try:
            for bucket in buckets:
                group.send(bucket, lambda work: _wait(work, heard, self._seconds))
            group.send_end(lambda work: _wait(work, heard, self._seconds))
            heard.result()
        except BaseException:
            self.close()  # a worker may be blocked within a broadcast: the next update needs a new group
            raise

    def _current_group(self) -> WeightGroup:
        states = self._call("proctor_state").result()
        members = {state["process"]: rank for rank, state in enumerate(states, start=1)}
        if self._group is None or members != self._members:
            self.close()
            self._group = self._new_group(members)
            self._members = members
        return self._group

    def _new_group(self, members: dict[str, int]) -> WeightGroup:
        group = WeightGroup(self._backend, self._host, 0, 0, len(members) + 1, self._seconds, self._host)
        joined = self._call("proctor_join", self._backend, self._host, group.port, members, self._seconds)
        try:
            group.join()
        except RuntimeError as error:
            raise InterruptedGenerationError(f"vLLM did not join: {error}") from None
        joined.result()
        return group

    def close(self) -> None:
        self._group, self._members = None, {}


def _wait(work: Any, heard: Future[list[Report]], seconds: float) -> None:
    """Wait for a broadcast. If the workers' call ended early, raise its exception."""
    until = time.monotonic() + seconds
    while not work.is_completed():
        if heard.done():
            heard.result()
            break  # the workers received the end, so the broadcast is about to complete
        if time.monotonic() > until:
            raise InterruptedGenerationError(f"a broadcast took more than {seconds:g} s (sync.timeout_seconds)")
        time.sleep(POLL_SECONDS)
    try:
        work.wait()
    except RuntimeError as error:  # also torch's DistBackendError
        raise InterruptedGenerationError(f"a broadcast failed: {error}") from None
