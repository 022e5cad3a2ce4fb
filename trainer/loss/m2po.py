"""M2PO: no clip. Of the tokens that drift away, those that drift most are left out, until the rest drifts little."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from trainer.loss.base import LossInputs, LossOutputs, bounded


def m2po(inputs: LossInputs, *, threshold: float = 0.04, cutoff: torch.Tensor | None = None) -> LossOutputs:
    """Loss = −M·r·A. Zheng et al., arXiv 2510.01161, algorithm 1, with r to the policy that sampled.

    That is `loss.old = "behaviour"`. The mask M is 0 for the tokens of the trust region (A > 0 and r > 1, or A < 0 and
    r < 1) with |log r| above `cutoff`, a scalar: see `m2po_cutoff`. The paper's scope is the whole batch, so whoever
    trains in micro-batches computes it before; without one it is of the tokens given. Masked tokens stay in the
    denominator, as in the paper.

    Deviations of others: the authors' repository caps in place of dropping, and AstraFlow drops with a threshold of
    0.01 and then clips; both do so by micro-batch, and so with a bound that depends on how the batch was split.
    """
    log_ratio, advantage = inputs.log_ratio, inputs.advantage
    if cutoff is None:
        cutoff = m2po_cutoff(log_ratio[inputs.trains], advantage[inputs.trains], threshold)
    gone = log_ratio.detach().abs() > cutoff
    shares = {
        "clip_low": gone & (advantage < 0) & (log_ratio < 0),
        "clip_high": gone & (advantage > 0) & (log_ratio > 0),
    }
    masked = shares["clip_low"] | shares["clip_high"]
    return LossOutputs(-advantage * torch.where(masked, 0.0, log_ratio.exp()), shares)


def m2po_cutoff(log_ratio: torch.Tensor, advantage: torch.Tensor, threshold: float) -> torch.Tensor:
    """The greatest |log r| that stays, a scalar: the largest are dropped until the mean of (log r)² is ≤ threshold.

    log_ratio, advantage: [M], all tokens that train. Only those of the trust region count. Infinite if nothing is
    dropped, 0 if everything is (a token of the region has |log r| > 0). Equal ones stay or go together.

    Sorted once: with the values in order, the mean of what is left after any number of drops is a running mean.
    """
    values = log_ratio.detach()
    size = values[advantage * values > 0].abs().sort().values
    rest = size.double().square().cumsum(0) / torch.arange(1, size.numel() + 1, device=size.device)
    stays = rest <= threshold
    if bool(stays.all()):
        return values.new_tensor(float("inf"))
    stays[:-1] &= size[:-1] < size[1:]  # the last of those that are equal stands for them all
    return torch.where(stays, size, 0.0).max()


def prepare(log_ratio: torch.Tensor, advantage: torch.Tensor, *, threshold: float = 0.04) -> Mapping[str, torch.Tensor]:
    """What `m2po` takes, from all tokens [M] that train of the mini-batch, on all ranks."""
    return {"cutoff": m2po_cutoff(bounded(log_ratio), advantage, threshold)}
