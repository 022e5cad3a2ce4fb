"""A vLLM worker extension with silent defects of weight transfers, for tests of their detection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from tests.trainer.vllm_digests import digest
from trainer.vllm_ext import Extension


class Sabotaged(Extension):
    """As the real one, until `sabotage` is called; "" ends it."""

    def sabotage(self, kind: str) -> dict[str, Any]:
        """Spoil what comes next in one of these ways.

        ignore: take in and load nothing · corrupt: flip a bit on the way · corrupt once: first or last: one bit, of the
        first byte or the last of what comes next · misremember: flip a bit of what was kept, now · forget: the version
        stays · pack: compute with copies made now, as prepacked weights are.

        Returns:
            The state of this worker, as the trainer verifies it.
        """
        if kind == "misremember":
            _flip(next(tensor for _, tensor in self._proctor.copy.items()))  # noqa: PERF102 (not a dict)
        vars(self)["_sabotage"] = kind
        for layer in self.get_model().modules():
            if hasattr(layer, "cpu_linear"):
                kept = layer.weight.detach().clone()
                layer.cpu_linear = _linear(kept) if kind == "pack" else torch.nn.functional.linear
        return self._proctor_answer()

    def digests(self) -> dict[str, Any]:
        """Of each parameter that the model has, by vLLM's names."""
        named = self.get_model().named_parameters()
        return self._proctor_answer() | {"digests": {name: digest(tensor) for name, tensor in named}}

    def _proctor_take(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        kind = str(vars(self).get("_sabotage"))
        if kind.startswith("corrupt"):
            weights = _with_a_bit_flipped(weights, at=-1 if kind.endswith("last") else 0)
        if "once" in kind:
            vars(self)["_sabotage"] = ""
        super()._proctor_take(weights)

    def _proctor_load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        if vars(self).get("_sabotage") == "ignore":
            for _ in weights:
                pass
            return
        super()._proctor_load(weights)

    def proctor_end(self, version: int) -> dict[str, Any]:
        before = self._proctor.version
        answer = super().proctor_end(version)
        if vars(self).get("_sabotage") == "forget":
            self._proctor.version = before
        return answer | self._proctor_answer()


def _linear(kept: Tensor) -> Any:
    return lambda x, _weight, bias: torch.nn.functional.linear(x, kept, bias)


def _with_a_bit_flipped(weights: Iterable[tuple[str, Tensor]], at: int) -> Iterable[tuple[str, Tensor]]:
    for number, (name, tensor) in enumerate(weights):
        changed = tensor.clone()
        if number == 0:
            _flip(changed, at)
        yield name, changed


def _flip(tensor: Tensor, at: int = 0) -> None:
    """One bit of one byte, in place."""
    tensor.view(-1).view(torch.uint8)[at] ^= 1
