"""What a micro-batch adds to the objective of its mini-batch, and what of it is worth watching.

    objective = Σ weight · (correction · loss + KL coefficient · KL)

over all tokens of all micro-batches and ranks. Which mean that is, the weights say (`batch.py`). A token of weight 0
has no influence, whatever is in its place, nan included. Nothing here knows the model or DeepSpeed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import torch

from trainer.config import Config, Correction, Kl, Loss
from trainer.episode import MicroBatch, Tally
from trainer.errors import ConfigError
from trainer.loss import LOSSES, LossInputs, LossOutputs, check_constants
from trainer.loss.correction import Corrected, correct
from trainer.loss.kl import coefficients, estimate

Prepare = Callable[[torch.Tensor, torch.Tensor], Mapping[str, torch.Tensor]]
NOTHING: Mapping[str, torch.Tensor] = MappingProxyType({})


@dataclass(frozen=True)
class Objective:
    """A loss with its constants, a correction and a KL term. ConfigError if the loss or a constant is not known."""

    loss: Loss
    correction: Correction
    kl: Kl

    def __post_init__(self) -> None:
        try:
            check_constants(self.loss.name, self.loss.constants)
        except ValueError as trouble:
            raise ConfigError(f"loss: {trouble}") from None

    @classmethod
    def of(cls, config: Config) -> Objective:
        """A run's."""
        return cls(config.loss, config.correction, config.kl)

    @property
    def needs_old(self) -> bool:
        """Whether log-probabilities must be computed again before a batch's first step (MicroBatch.old)."""
        return self.loss.old == "recomputed"

    @property
    def needs_reference(self) -> bool:
        """Whether MicroBatch.reference must be there."""
        return self.kl.is_on

    @property
    def prepare(self) -> Prepare | None:
        """None; or what to call before each step, for the last argument of all its micro-batches on all ranks.

        It takes log_ratio [M] = logp − old by the policy as it is, and advantage [M], of all tokens of the mini-batch,
        on all ranks, whose weight is not 0. M may be 0.
        """
        prepare = LOSSES[self.loss.name].prepare
        return None if prepare is None else partial(prepare, **self._constants)

    def old(self, micro: MicroBatch) -> torch.Tensor:
        """[N]: what the ratio of the loss is to. ValueError if it is to be recomputed and was not."""
        if not self.needs_old:
            return micro.behaviour
        if micro.old is None:
            raise ValueError("loss.old is 'recomputed', but the micro-batch has no old log-probabilities")
        return micro.old

    def __call__(
        self,
        micro: MicroBatch,
        logp: torch.Tensor,
        entropy: torch.Tensor,
        prepared: Mapping[str, torch.Tensor] = NOTHING,
    ) -> tuple[torch.Tensor, Tally]:
        """A scalar for backward(), and what was seen.

        logp [N] with a gradient, entropy [N], both of the policy as it is. The scalar depends on logp even if N is 0 or
        all weights are, so that every rank can go backward. ValueError if the micro-batch lacks what is needed.
        """
        inputs = self._inputs(micro, logp, entropy)
        out = LOSSES[self.loss.name].function(inputs, **self._constants, **prepared)
        factor, cut = self._correct(micro, inputs)
        watched = _watched(inputs, out) | {"correction": factor, "correction_cut": cut}
        total = factor * out.loss
        if self.needs_reference:
            kl = self._kl(micro, inputs)
            total = total + self._coefficients(inputs) * kl
            watched["kl"] = kl
        if micro.old is not None:
            watched["logprob_gap"] = torch.where(inputs.trains, micro.old - micro.behaviour, 0.0).abs()
        return (micro.weight * total).sum(), _tally(watched, inputs.trains)

    @cached_property
    def _constants(self) -> dict[str, Any]:
        return check_constants(self.loss.name, self.loss.constants)

    def _inputs(self, micro: MicroBatch, logp: torch.Tensor, entropy: torch.Tensor) -> LossInputs:
        """Zeros where the weight is 0: before any arithmetic, since 0 × nan is nan, and its gradient too."""
        trains = micro.weight != 0
        return LossInputs(
            logp=torch.where(trains, logp, 0.0),
            old=torch.where(trains, self.old(micro), 0.0),
            advantage=torch.where(trains, micro.advantage, 0.0),
            entropy=torch.where(trains, entropy.detach(), 0.0),
            sequence=micro.sequence,
            trains=trains,
        )

    def _correct(self, micro: MicroBatch, inputs: LossInputs) -> Corrected:
        behaviour = torch.where(inputs.trains, micro.behaviour, 0.0)
        name, low, high = self.correction.name, self.correction.low, self.correction.high
        return correct(name, inputs.old, behaviour, inputs.sequence, inputs.trains, low=low, high=high)

    def _kl(self, micro: MicroBatch, inputs: LossInputs) -> torch.Tensor:
        if micro.reference is None:
            raise ValueError("there is a KL term, but the micro-batch has no log-probabilities of the reference")
        return estimate(self.kl.estimator, inputs.logp, torch.where(inputs.trains, micro.reference, 0.0))

    def _coefficients(self, inputs: LossInputs) -> torch.Tensor:
        return coefficients(
            inputs.entropy,
            inputs.sequence,
            inputs.trains,
            coefficient=self.kl.coefficient,
            high_entropy_coefficient=self.kl.high_entropy_coefficient,
            quantile=self.kl.quantile,
        )


def _watched(inputs: LossInputs, out: LossOutputs) -> dict[str, torch.Tensor]:
    """[N] each. `approx_kl` is k3 of KL(old ‖ policy): it was the old one that sampled."""
    log_ratio = inputs.log_ratio.detach()
    ratio = log_ratio.exp()
    approx_kl = torch.expm1(log_ratio) - log_ratio
    return {"entropy": inputs.entropy, "approx_kl": approx_kl, "ratio": ratio, **out.shares}


def _tally(watched: Mapping[str, torch.Tensor], trains: torch.Tensor) -> Tally:
    """Means over the tokens that train, and the peaks of what has any. One transfer from the device for all."""
    rows = torch.stack([each.detach().double() for each in watched.values()])
    rows = torch.where(trains, rows, 0.0)
    peaks = torch.cat([rows, rows.new_zeros(len(watched), 1)], dim=1).amax(dim=1)  # N may be 0
    figures = torch.cat([rows.sum(dim=1), peaks, trains.sum()[None].double()]).tolist()
    count, tally = figures.pop(), Tally()
    if not count:
        return tally
    for place, name in enumerate(watched):
        tally.add(name, figures[place], count)
        if name in ("ratio", "logprob_gap"):  # neither is ever negative
            tally.peak(f"{name}_max", figures[len(watched) + place])
    return tally
