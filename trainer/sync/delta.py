"""Sends only changed weights to workers that have the rest, and all weights periodically or when a worker does not.

A delta is sent if each worker of each server reports that its copy is of the last version sent. Otherwise (a server was
restarted, or missed a version) all servers get all weights. After a delta the worker's whole copy and its model are
checked as after a full transfer. If a check fails, all weights are sent at once from the trainer's copy, because the
other ranks have given theirs already.

A patch has the new bits of the changed numbers of a piece of a tensor, and the distances between their positions: a
byte each, and one more for each 255. Where all numbers take fewer bytes, they are sent without distances. Numbers are
compared as integers of their width: -0.0 differs from 0.0, and a NaN equals itself.
"""

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainer.errors import StaleWeightsError
from trainer.sync.transports import Call, Delivery, Transport, Weights
from trainer.sync.weights import INTEGERS

Numbers = NDArray[Any]  # [n] integers
Bytes = NDArray[np.uint8]

PIECE = 1 << 20  # numbers at a time, so that intermediate arrays nearly fit a cache
SKIP = 255  # a byte that only moves the position on
ALL = 0  # in place of a count: all numbers, no distances
PATCH_ERRORS = (ValueError, IndexError, KeyError)  # of a patch that is damaged, does not fit, or has no tensor


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
        states = [] if self._version is None else self._call("proctor_state").result()
        is_base = bool(states) and all(state["base"] == self._version for state in states)
        self._version = None
        will_do = is_base and self._deltas + 1 < self._full_every
        delivery = self._delta(version, iter(weights)) if will_do else self._full(version, weights)
        self._deltas = self._deltas + 1 if delivery.kind == "delta" else 0
        self._version = version
        return delivery

    def close(self) -> None:
        self._transport.close()

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
        """Yield patches (labels, and payloads [bytes] uint8) to the given weights, which are stored."""
        self.changed = 0
        for name, tensor in weights:  # stored before its first patch is yielded: an abandoned iteration loses nothing
            yield from list(self._patches(name, tensor.detach().contiguous().view(-1)))

    def apply_patch(self, label: str, payload: Tensor) -> str:
        """Apply a patch, its label and payload [bytes] uint8, and return its tensor's name. Raise PATCH_ERRORS."""
        content = payload.cpu().numpy()
        name, start, count = parse_label(label, content)
        decode_into(content, count, _numbers(self._tensors[name].view(-1))[start:])
        return name

    def _patches(self, name: str, flat: Tensor) -> Iterator[tuple[str, Tensor]]:
        stored = _numbers(self._tensors[name].view(-1))
        for start in range(0, flat.numel(), PIECE):
            old, new = stored[start : start + PIECE], _numbers(flat[start : start + PIECE].cpu())
            if patch := encode(old, new):
                self.changed += patch.changed
                old[:] = new
                yield patch.label(name, start), torch.from_numpy(patch.payload)


def _numbers(flat: Tensor) -> Numbers:
    """View a flat tensor as integers of its width, in the same memory."""
    numbers: Numbers = flat.view(INTEGERS[flat.element_size()]).numpy()
    return numbers


@dataclass(frozen=True)
class Patch:
    """`payload` is `count` new numbers, followed by the distances to them; or all numbers, if `count` is ALL."""

    count: int
    payload: Bytes
    changed: int  # the number of changed numbers

    def label(self, name: str, start: int) -> str:
        """Return the name of the patch in a bucket, with the index where its piece starts: `crc:count:start:name`."""
        rest = f"{self.count}:{start}:{name}"
        return f"{_crc(rest, self.payload)}:{rest}"


def encode(old: Numbers, new: Numbers) -> Patch | None:
    """Return the patch from one piece to another [n], None if they are equal."""
    changed = np.flatnonzero(old != new)
    if not changed.size:
        return None
    if changed.size * (1 + new.itemsize) < new.nbytes:
        skips, rest = np.divmod(np.diff(changed, prepend=0), SKIP)
        ends = np.cumsum(skips + 1)  # of the bytes of each distance
        distances = np.full(ends[-1], SKIP, np.uint8)
        distances[ends - 1] = rest
        payload = np.concatenate([new[changed].view(np.uint8), distances])
        if payload.size < new.nbytes:
            return Patch(changed.size, payload, changed.size)
    return Patch(ALL, new.view(np.uint8), changed.size)


def decode_into(payload: Bytes, count: int, numbers: Numbers) -> None:
    """Apply a patch, its payload and count, to the numbers from its piece's first one on. Raise ValueError."""
    if count == ALL:
        numbers[: payload.size // numbers.itemsize] = payload.view(numbers.dtype)
        return
    values, distances = np.split(payload, [count * numbers.itemsize])
    places = np.cumsum(distances, dtype=np.int64)[distances < SKIP]
    if places.size != count:
        raise ValueError(f"{payload.size} bytes are not a patch of {count} numbers")
    numbers[places] = values.view(numbers.dtype)


def parse_label(label: str, payload: Bytes) -> tuple[str, int, int]:
    """Return the parts of a label: name, start and count. Raise ValueError if label or payload are damaged."""
    crc, _, rest = label.partition(":")
    if crc != str(_crc(rest, payload)):
        raise ValueError(f"a patch was changed on its way: {rest}")
    count, start, name = rest.split(":", 2)
    return name, int(start), int(count)


def _crc(rest: str, payload: Bytes) -> int:
    return zlib.crc32(payload.data, zlib.crc32(rest.encode()))
