"""Sends only changed weights to workers that have the rest, and all weights periodically or when a worker does not.

A delta is sent if each worker of each server reports that its copy is of the last version sent. A restarted server has
no copy and one that missed a version has an old one; all servers then get all weights. After a delta the worker's whole
copy and its model are checked as after a full transfer. If a check fails, all weights are sent at once from the
trainer's copy, because the other ranks have given theirs already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor

from trainer.engines.base import Notice
from trainer.errors import StaleWeightsError
from trainer.sync.base import Call, Delivery, Transport, Weights
from trainer.sync.weight_copy import WeightCopy


class DeltaSender:
    """A Sender of deltas. Keeps a copy of the weights in this process; each vLLM worker keeps one too."""

    def __init__(self, transport: Transport, call: Call, full_every: int, notice: Notice) -> None:
        self._transport = transport
        self._call = call
        self._full_every = full_every
        self._notice = notice
        self._copy = WeightCopy()
        self._version: int | None = None  # that all workers have; None if unknown
        self._deltas = 0  # since the last full transfer

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
        return self._transport.send(version, weights, "kept", self._copy.tee)

    def _delta(self, version: int, stream: Iterator[tuple[str, Tensor]]) -> Delivery:
        try:
            delivery = self._transport.send(version, stream, "delta", self._copy.encode_changes)
        except StaleWeightsError as error:
            self._notice(f"a delta failed, all weights are sent instead: {error}")
            for _ in self._copy.encode_changes(stream):  # the weights after the failure
                pass
            return self._full(version, self._copy.items())
        return replace(delivery, kind="delta", density=self._copy.changed / sum(delivery.sent.numbers.values()))
