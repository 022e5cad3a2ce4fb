"""Adapters on their way to vLLM: a weight's two matrices travel before it, and the workers add their product.

Only `sync.delta` sends them like this. The weights themselves never change, so that a delta has the adapters alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch import Tensor

FIRST, SECOND = ".lora_A", ".lora_B"  # follow the weight's name


def merged(weight: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Return W + B A, summed in float32 and rounded to the type of W.

    The weight W is [outputs, inputs], the first matrix A [rank, inputs], the second B [outputs, rank] with its scaling.
    """
    return (weight.float() + second.float() @ first.float()).to(weight.dtype)


def name_of_weight(name: str) -> str:
    """Return the name of the weight that a tensor of this name belongs to: a weight, or one of its matrices."""
    return name.removesuffix(FIRST).removesuffix(SECOND)


class Merger:
    """Merges weights with the matrices that came before them, in the same or in an earlier call."""

    def __init__(self) -> None:
        self._waiting: dict[str, Tensor] = {}
        self.has_merged = False

    def __call__(self, weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """Yield whole weights."""
        for name, tensor in weights:
            if name.endswith((FIRST, SECOND)):
                self._waiting[name] = tensor.clone()  # its memory may be used again before the weight comes
            elif name + FIRST in self._waiting:
                matrices = (self._waiting.pop(name + suffix).to(tensor.device) for suffix in (FIRST, SECOND))
                self.has_merged = True
                yield name, merged(tensor, *matrices)
            else:
                yield name, tensor
