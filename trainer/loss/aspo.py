"""ASPO: where the advantage is positive the ratio is turned over, so that what is unlikely is learnt most."""

from __future__ import annotations

import torch

from trainer.loss.base import LossInputs, LossOutputs
from trainer.loss.entropy import by_class, high_entropy


def aspo(
    inputs: LossInputs,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    high_entropy_clip_low: float = 0.4,
    high_entropy_clip_high: float = 0.4,
    quantile: float | None = 0.8,
    negative_dual_clip: float = 3.0,
    positive_dual_clip: float = 3.0,
) -> LossOutputs:
    """Loss = −A · sg(w) · logp. Wang et al., arXiv 2510.06062, eq. 3 for the ratio turned over; sg stops the gradient.

    A > 0: w = min(1/r, positive_dual_clip), and 0 where r > 1 + clip_high.
    A < 0: w = min(r, negative_dual_clip), and 0 where r < 1 − clip_low.
    Unlike PPO's, this dual clip is soft: it bounds the weight and keeps the gradient.

    The clips are by entropy class (entropy.py), as in the Archer2.0 code that made the published models: 0.4 is
    hard-coded there. The paper has one clip of 0.2 for all: `quantile` None (1.0 does the same, where a file has no
    null).

    Deviations: paper and code write a sum of cases with values of their own (−A·r, −A/r, −A·c·logp) that cannot be
    compared with each other. This form has the same gradient in every case, and one meaning; its value, here as there,
    is nothing to plot. The published mean is one over each response; here it is what the weights say. A = 0 gives 0.
    """
    ratio, positive, negative = inputs.log_ratio.detach().exp(), inputs.advantage > 0, inputs.advantage < 0
    high = torch.zeros_like(inputs.trains)
    if quantile is not None:
        high = high_entropy(inputs.entropy, inputs.sequence, inputs.trains, quantile)
    shares = {
        "clip_low": negative & (ratio < 1 - by_class(high, high_entropy_clip_low, clip_low, ratio)),
        "clip_high": positive & (ratio > 1 + by_class(high, high_entropy_clip_high, clip_high, ratio)),
        "dual_low": positive & (1 / ratio > positive_dual_clip),
        "dual_high": negative & (ratio > negative_dual_clip),
        "high_entropy": high,
    }
    weight = torch.where(positive, (1 / ratio).clamp(max=positive_dual_clip), ratio.clamp(max=negative_dual_clip))
    weight = torch.where(shares["clip_low"] | shares["clip_high"], 0.0, weight)
    return LossOutputs(-inputs.advantage * weight * inputs.logp, shares)
