"""Weights by broadcast: over gloo from memory to memory, over NCCL from GPU to GPU. NCCL was not run here.

All workers of all servers are in one circle with us. It is made at the first update, and again when other workers
are there than were: those of a server that was started again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Literal
from urllib.parse import urlsplit

import torch

from trainer.engines.base import Interrupted
from trainer.sync.base import Call, Transport
from trainer.sync.bucket import Bucket
from trainer.sync.circle import Circle, address_towards
from trainer.sync.delivery import Report

LOOK_SECONDS = 0.0005


class GroupTransport(Transport):
    """`url`: of a server, so that we know by which of our addresses to be reached."""

    def __init__(
        self, call: Call, bucket_bytes: int, backend: Literal["gloo", "nccl"], url: str, seconds: float
    ) -> None:
        super().__init__(call, bucket_bytes)
        self._backend = backend
        self._seconds = seconds
        self._host = address_towards(urlsplit(url).hostname or "127.0.0.1")
        self._circle: Circle | None = None
        self._members: dict[str, int] = {}
        if backend == "nccl":
            self.device = torch.device("cuda", torch.cuda.current_device())

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        circle = self._circle_of_all()
        heard = self._call("proctor_receive")
        try:
            for bucket in buckets:
                circle.say(bucket, lambda work: _wait(work, heard, self._seconds))
            circle.end(lambda work: _wait(work, heard, self._seconds))
            heard.result()
        except BaseException:
            self.close()  # somebody may be stuck in the middle of a word: the next update needs another circle
            raise

    def _circle_of_all(self) -> Circle:
        states = self._call("proctor_state").result()
        members = {state["process"]: rank for rank, state in enumerate(states, start=1)}
        if self._circle is None or members != self._members:
            self.close()
            self._circle = self._new_circle(members)
            self._members = members
        return self._circle

    def _new_circle(self, members: dict[str, int]) -> Circle:
        circle = Circle(self._backend, self._host, 0, 0, len(members) + 1, self._seconds, self._host)
        joined = self._call("proctor_join", self._backend, self._host, circle.port, members, self._seconds)
        try:
            circle.join()
        except RuntimeError as trouble:
            raise Interrupted(f"vLLM did not join: {trouble}") from None
        joined.result()
        return circle

    def close(self) -> None:
        self._circle, self._members = None, {}


def _wait(work: Any, heard: Future[list[Report]], seconds: float) -> None:
    """Until a broadcast is done; those who should hear it may have ended before. Raises what ended them."""
    until = time.monotonic() + seconds
    while not work.is_completed():
        if heard.done():
            heard.result()
            break  # they ended well, so they heard the last word, and we are about to know that it is said
        if time.monotonic() > until:
            raise Interrupted(f"a broadcast took more than {seconds:g} s (sync.timeout_seconds)")
        time.sleep(LOOK_SECONDS)
    try:
        work.wait()
    except RuntimeError as trouble:  # also torch's DistBackendError
        raise Interrupted(f"a broadcast failed: {trouble}") from None
