"""Sends only changed weights to workers that have the rest, and all weights periodically or when a worker does not.

A delta is sent if each worker of each server reports that its copy is of the last version sent. A restarted server has
no copy and one that missed a version has an old one; all servers then get all weights. After a delta the worker's whole
copy and its model are checked as after a full transfer. If a check fails, all weights are sent at once from the
trainer's copy, because the other ranks have given theirs already.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from trainer.errors import StaleWeightsError
from trainer.sync.delta_encoding import Numbers, decode_into, encode, parse_label, pieces
from trainer.sync.transports import Call, Delivery, Transport, Weights
from trainer.sync.weights import INTEGERS


class DeltaSender:
    """A sender of deltas, as a Transport. Keeps a copy of the weights; each vLLM worker keeps one too."""

    def __init__(self, transport: Transport, call: Call, full_every: int, notice: Callable[[str], None]) -> None:
        self._transport = transport
        self._call = call
        self._full_every = full_every
        self._notice = notice
        self._copy = WeightCopy()
        self._version: int | None = None  # that all workers have; None if unknown
        self._deltas = 0  # since the last full transfer

    def send(self, version: int, weights: Weights) -> Delivery:
        """Return the delivery of the weights of a version; see `Transport.send`."""
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
            deque(self._copy.encode_changes(stream), maxlen=0)  # the weights after the failure
            return self._full(version, self._copy.items())
        return replace(delivery, kind="delta", density=self._copy.changed / sum(delivery.sent.numbers.values()))


class WeightCopy:
    """A copy of all weights in host memory by name, the base of deltas, as large as the weights.

    The trainer's rank 0 and each vLLM worker have one: a server with tensor parallelism over eight GPUs has eight.
    Methods return the stored tensors themselves, not copies.
    """

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}
        self.changed = 0  # numbers that changed in the last `encode_changes`

    def items(self) -> Iterator[tuple[str, Tensor]]:
        """Yield names and tensors in the order in which `tee` last had them: adapters come before their weight."""
        yield from list(self._tensors.items())  # `tee` may have these, and changes their order

    def tee(self, weights: Weights) -> Iterator[tuple[str, Tensor]]:
        """Yield the weights unchanged and store each one."""
        for name, tensor in weights:
            old = self._tensors.pop(name, None)
            if old is None or (old.shape, old.dtype) != (tensor.shape, tensor.dtype):
                old = torch.empty(tensor.shape, dtype=tensor.dtype)
            self._tensors[name] = old.copy_(tensor.detach())
            yield name, tensor

    def encode_changes(self, weights: Weights) -> Iterator[tuple[str, Tensor]]:
        """Yield patches (labels, and payloads [bytes] uint8) from the stored weights to the given ones, and store
        these.

        A tensor is stored before its first patch is yielded, so that an abandoned iteration loses nothing.
        """
        self.changed = 0
        for name, tensor in weights:
            yield from list(self._patches(name, tensor.detach().contiguous().view(-1)))

    def apply_patch(self, label: str, payload: Tensor) -> str:
        """Return the name of the tensor that a patch, its label and payload [bytes] uint8, was applied to.

        Raises:
            ValueError: The patch is damaged or does not fit.
            IndexError: The patch does not fit the tensor.
            KeyError: There is no such tensor.
        """
        content = payload.cpu().numpy()
        name, start, count = parse_label(label, content)
        decode_into(content, count, _numbers(self._tensors[name].view(-1))[start:])
        return name

    def _patches(self, name: str, flat: Tensor) -> Iterator[tuple[str, Tensor]]:
        old = _numbers(self._tensors[name].view(-1))
        for piece in pieces(flat.numel()):
            new = _numbers(flat[piece].cpu())
            patch = encode(old[piece], new)
            if patch:
                self.changed += patch.changed
                old[piece] = new
                yield patch.label(name, piece.start), torch.from_numpy(patch.payload)


def _numbers(flat: Tensor) -> Numbers:
    """View a flat tensor as integers of its width, in the same memory."""
    numbers: Numbers = flat.view(INTEGERS[flat.element_size()]).numpy()
    return numbers
