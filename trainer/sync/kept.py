"""The bits of all weights in the host's memory, by name: what a delta is the difference from.

The trainer's rank 0 has one and each worker of vLLM has one, if `sync.delta` is on and not otherwise: it takes as much
memory as the weights do, and a server whose model is shared out to eight GPUs has eight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from trainer.sync.checksum import INTEGERS
from trainer.sync.patch import Numbers, apply, made, pieces, read

Weights = Iterable[tuple[str, Tensor]]


class Kept:
    """Tensors by name. Those that are given out are the very ones that are kept."""

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}
        self.changed = 0  # numbers that were not as they were kept, in the last `patches`

    def all(self) -> Iterator[tuple[str, Tensor]]:
        """In the order in which they first came."""
        yield from self._tensors.items()

    def over(self, weights: Weights) -> Iterator[tuple[str, Tensor]]:
        """The same weights, kept as they pass."""
        for name, tensor in weights:
            old = self._tensors.get(name)
            if old is None or (old.shape, old.dtype) != (tensor.shape, tensor.dtype):
                old = self._tensors[name] = torch.empty(tensor.shape, dtype=tensor.dtype)
            old.copy_(tensor.detach())
            yield name, tensor

    def patches(self, weights: Weights) -> Iterator[tuple[str, Tensor]]:
        """What makes these weights of those that are kept, labels and bytes; from then on these are kept.

        Nothing is lost if somebody wants no more of it: a tensor is kept before the first of its patches goes out.
        """
        self.changed = 0
        for name, tensor in weights:
            yield from list(self._patches(name, tensor.detach().contiguous().view(-1)))

    def patch(self, label: str, payload: Tensor) -> str:
        """Change what is kept; the name of the tensor. Raises ValueError, IndexError or KeyError if that cannot be."""
        content = payload.cpu().numpy()
        name, start, width = read(label, content)
        apply(content, width, _numbers(self._tensors[name].view(-1))[start:])
        return name

    def _patches(self, name: str, flat: Tensor) -> Iterator[tuple[str, Tensor]]:
        old = _numbers(self._tensors[name].view(-1))
        for piece in pieces(flat.numel()):
            new = _numbers(flat[piece].cpu())
            patch = made(old[piece], new)
            if patch:
                self.changed += patch.changed
                old[piece] = new
                yield patch.label(name, piece.start), torch.from_numpy(patch.payload)


def _numbers(flat: Tensor) -> Numbers:
    """[n] as integers, the same memory."""
    numbers: Numbers = flat.view(INTEGERS[flat.element_size()]).numpy()
    return numbers
