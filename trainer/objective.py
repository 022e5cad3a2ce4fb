"""Computes a micro-batch's share of the training objective, and the metrics of the loss.

    objective = Σ weight · (correction · loss + KL coefficient · KL − entropy bonus · entropy)

over all tokens of all micro-batches and ranks. The weights (`batch.weights`) define the mean. This module knows neither
the model nor DeepSpeed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self

import torch

from trainer.config import Config
from trainer.config.sections import Correction, Kl, Loss
from trainer.episode import MicroBatch, Tally
from trainer.loss import LOSSES, PREPARE, LossInputs, check_constants
from trainer.loss.terms import correct, estimate, kl_coefficients

Prepare = Callable[[torch.Tensor, torch.Tensor], Mapping[str, torch.Tensor]]
NOTHING: Mapping[str, torch.Tensor] = MappingProxyType({})


@dataclass(frozen=True)
class Objective:
    """A loss with its constants, an importance correction and a KL term."""

    loss: Loss
    correction: Correction
    kl: Kl

    @classmethod
    def of(cls, config: Config) -> Self:
        return cls(config.loss, config.correction, config.kl)

    @property
    def needs_old(self) -> bool:
        """Return whether ratios are relative to the trainer's log-probabilities before the batch's first step."""
        return self.loss.old == "recomputed"

    @property
    def needs_reference(self) -> bool:
        return self.kl.is_on

    @property
    def prepare(self) -> Prepare | None:
        """The loss's preparation of a step, if any: from log ratios and advantages [M] of its tokens on all ranks.

        It is called before each optimiser step, and its result passed to every `__call__` as `prepared`.
        """
        prepare = PREPARE.get(self.loss.name)
        return None if prepare is None else partial(prepare, **self._constants)

    def __call__(
        self,
        micro: MicroBatch,
        logp: torch.Tensor,
        entropy: torch.Tensor,
        prepared: Mapping[str, torch.Tensor] = NOTHING,
        is_first: bool = False,
    ) -> tuple[torch.Tensor, Tally]:
        """Return the objective of a micro-batch, a scalar for backward(), and its metrics.

        The current policy's log-probabilities [N] have a gradient, and its entropies [N], in nats, have one if there is
        an entropy bonus. Without a step on the batch yet (`is_first`) `logp` stands for a missing `micro.old`.
        """
        initial = logp.detach() if is_first and micro.old is None else micro.old
        old = initial if self.needs_old else micro.behaviour
        assert old is not None, "loss.old is 'recomputed', but the micro-batch has no old log-probabilities"
        inputs = LossInputs(logp, old, micro.advantage, entropy.detach(), micro.sequence)
        out = LOSSES[self.loss.name](inputs, **self._constants, **prepared)
        factor, cut = correct(self.correction, old, micro.behaviour, micro.sequence)
        log_ratio = inputs.log_ratio.detach()
        watched = {"entropy": inputs.entropy, "ratio": log_ratio.exp(), **out.shares}
        watched |= {"correction": factor, "correction_cut": cut}
        watched["approx_kl"] = torch.expm1(log_ratio) - log_ratio  # k3, of KL(old ‖ policy): the old policy sampled
        total = factor * out.loss
        if self.needs_reference:
            assert micro.reference is not None, "there is a KL term, but the micro-batch has no reference"
            kl = estimate(self.kl.estimator, logp, micro.reference)
            total = total + kl_coefficients(self.kl, inputs.entropy, inputs.sequence) * kl
            watched["kl"] = kl
        if self.loss.entropy_bonus:
            total = total - self.loss.entropy_bonus * entropy
        if initial is not None:
            watched["logprob_gap"] = (initial - micro.behaviour).abs()
        return (micro.weight * total).sum(), _tally(watched)

    @cached_property
    def _constants(self) -> dict[str, Any]:
        return check_constants(self.loss.name, self.loss.constants)


def _tally(watched: Mapping[str, torch.Tensor]) -> Tally:
    """Return means over the tokens and maxima of ratios. All values leave the device in one transfer."""
    values, tally = torch.stack([each.detach().double() for each in watched.values()]), Tally()
    if not (count := values.shape[1]):
        return tally
    sums, peaks = torch.stack([values.sum(dim=1), values.amax(dim=1)]).tolist()
    for name, total, peak in zip(watched, sums, peaks, strict=True):
        tally.add(name, total, count)
        if name in ("ratio", "logprob_gap"):
            tally.add_max(f"{name}_max", peak)
    return tally
