"""M2PO: instead of clipping, drops the tokens of the largest log ratios until their second moment is small."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from trainer.loss.base import LossInputs, LossOutputs, bounded


def m2po(inputs: LossInputs, *, threshold: float = 0.04, cutoff: torch.Tensor | None = None) -> LossOutputs:
    """Loss = −M·r·A. Zheng et al., arXiv 2510.01161, algorithm 1, with r relative to the policy that sampled.

    This needs `loss.old = "behaviour"`. The mask M is 0 for tokens that move further (A > 0 and r > 1, or A < 0 and r <
    1) with |log r| above `cutoff`; see `m2po_cutoff`. The paper computes the cutoff over the whole batch, so with
    micro-batches `prepare` computes it beforehand. Masked tokens stay in the denominator, as in the paper.

    Other implementations deviate: the authors' repository caps instead of dropping, and AstraFlow drops with a
    threshold of 0.01 and then clips. Both work by micro-batch, so their bound depends on how the batch was split.

    Args:
        inputs: Log-probabilities and advantages [N].
        threshold: The largest mean of (log r)².
        cutoff: A scalar; None computes it from the given tokens.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
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
    """Return the largest |log r| that stays when the largest are dropped until the mean of (log r)² is ≤ threshold.

    Tokens that move further only; equal values stay or go together. Computed with one sort: with the values in order,
    the mean after any number of drops is a running mean.

    Args:
        log_ratio: [M], all tokens that train.
        advantage: [M].
        threshold: The largest mean of (log r)².

    Returns:
        A scalar: infinite if nothing is dropped, 0 if everything is (these tokens have |log r| > 0).
    """
    values = log_ratio.detach()
    size = values[advantage * values > 0].abs().sort().values
    rest = size.double().square().cumsum(0) / torch.arange(1, size.numel() + 1, device=size.device)
    stays = rest <= threshold
    if bool(stays.all()):
        return values.new_tensor(float("inf"))
    stays[:-1] &= size[:-1] < size[1:]  # the last of equal values represents them
    return torch.where(stays, size, 0.0).max()


def prepare(log_ratio: torch.Tensor, advantage: torch.Tensor, *, threshold: float = 0.04) -> Mapping[str, torch.Tensor]:
    """Return the keyword arguments of `m2po` that depend on the whole mini-batch; see `m2po_cutoff`."""
    return {"cutoff": m2po_cutoff(bounded(log_ratio), advantage, threshold)}
