"""Only what changed, where everybody has the rest; and all of it every so often, and whenever that is not so.

A delta is sent if each worker of each server says that the copy it keeps is of the very version that was sent last. A
server that was started again has no copy, one that missed a version has an old one: then all servers get all weights.
What a worker has after a delta is looked at as after a full one: its whole copy adds up to what all our weights add
up to, and so does its model. If it does not, all weights are sent at once, from our own copy, because the trainer's
other ranks have given theirs and are not asked twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor

from trainer.engines.base import Notice
from trainer.errors import StaleWeights
from trainer.sync.base import Call, Transport, Weights
from trainer.sync.delivery import Delivery
from trainer.sync.kept import Kept


class Delta:
    """See Sender. Keeps a copy of the weights in this process, and has each worker of vLLM keep one."""

    def __init__(self, transport: Transport, call: Call, full_every: int, notice: Notice) -> None:
        """`full_every`: 1 in so many is full; 1: all are."""
        self._transport = transport
        self._call = call
        self._full_every = full_every
        self._notice = notice
        self._kept = Kept()
        self._version: int | None = None  # that everybody has; None: that is not known
        self._deltas = 0  # since the last full one

    def send(self, version: int, weights: Weights) -> Delivery:
        will_do = self._deltas + 1 < self._full_every and self._is_base_everywhere()
        self._version = None
        delivery = self._delta(version, iter(weights)) if will_do else self._full(version, weights)
        self._deltas = self._deltas + 1 if delivery.kind == "delta" else 0
        self._version = version
        return delivery

    def close(self) -> None:
        self._transport.close()

    def _is_base_everywhere(self) -> bool:
        if self._version is None:
            return False
        return all(state["base"] == self._version for state in self._call("proctor_state").result())

    def _full(self, version: int, weights: Weights) -> Delivery:
        return self._transport.send(version, weights, "kept", self._kept.over)

    def _delta(self, version: int, stream: Iterator[tuple[str, Tensor]]) -> Delivery:
        try:
            delivery = self._transport.send(version, stream, "delta", self._kept.patches)
        except StaleWeights as trouble:
            self._notice(f"a delta went wrong, so all weights are sent: {trouble}")
            for _ in self._kept.patches(stream):  # what it did not come to
                pass
            return self._full(version, self._kept.all())
        return replace(delivery, kind="delta", density=self._kept.changed / sum(delivery.sent.numbers.values()))
