"""A copy of all weights in host memory, the base of deltas.

The trainer's rank 0 and each vLLM worker have one if `sync.delta` is on. It takes as much memory as the weights; a
server with tensor parallelism over eight GPUs has eight copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from trainer.sync.checksum import INTEGERS
from trainer.sync.delta_encoding import Numbers, decode_into, encode, parse_label, pieces

Weights = Iterable[tuple[str, Tensor]]


class WeightCopy:
    """Tensors by name. Methods return the stored tensors themselves, not copies."""

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
        name, start, width = parse_label(label, content)
        decode_into(content, width, _numbers(self._tensors[name].view(-1))[start:])
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
