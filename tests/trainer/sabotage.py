"""A worker extension that can be told to fail in silence, in the ways that weights have failed to arrive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from trainer.vllm_ext import Extension


class Sabotaged(Extension):
    """As the real one, until `sabotage` is called; "" ends it."""

    def sabotage(self, kind: str) -> dict[str, Any]:
        """ignore: take in and load nothing · corrupt: flip a bit on the way · forget: the version stays ·
        pack: compute with copies made now, as prepacked weights are.
        """
        vars(self)["_sabotage"] = kind
        for layer in self._proctor_model().modules():
            if hasattr(layer, "cpu_linear"):
                kept = layer.weight.detach().clone()
                layer.cpu_linear = _linear(kept) if kind == "pack" else torch.nn.functional.linear
        return self._proctor_answer()

    def _proctor_load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        kind = vars(self).get("_sabotage")
        if kind == "ignore":
            for _ in self._proctor.received.over(weights):
                pass
            return
        super()._proctor_load(_with_a_bit_flipped(weights) if kind == "corrupt" else weights)

    def proctor_end(self, version: int) -> dict[str, Any]:
        before = self._proctor.version
        answer = super().proctor_end(version)
        if vars(self).get("_sabotage") == "forget":
            self._proctor.version = before
        return answer | self._proctor_answer()


def _linear(kept: Tensor) -> Any:
    return lambda x, _weight, bias: torch.nn.functional.linear(x, kept, bias)


def _with_a_bit_flipped(weights: Iterable[tuple[str, Tensor]]) -> Iterable[tuple[str, Tensor]]:
    for number, (name, tensor) in enumerate(weights):
        changed = tensor.clone()
        if number == 0:
            changed.view(-1)[:1].view(torch.int32).bitwise_xor_(1)
        yield name, changed
