"""ASPO: the importance ratio of tokens with positive advantage is inverted, so that unlikely tokens weigh most."""

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
    """Loss = −A · sg(w) · logp, where sg stops the gradient. Wang et al., arXiv 2510.06062, eq. 3 for the inverted
    ratio.

    A > 0: w = min(1/r, positive_dual_clip), and 0 where r > 1 + clip_high.
    A < 0: w = min(r, negative_dual_clip), and 0 where r < 1 − clip_low.
    Unlike PPO's, this dual clip is soft: it bounds the weight and keeps the gradient.

    The clips depend on the entropy class (entropy.py), as in the Archer2.0 code that produced the published models,
    where 0.4 is hard-coded. The paper has a single clip of 0.2; `quantile` None selects it (1.0 is equivalent, for
    files without null).

    Deviations: paper and code write a sum of cases (−A·r, −A/r, −A·c·logp) whose values are not comparable with each
    other. This form has the same gradient in every case; its value is not meaningful, here as there. The published mean
    is over each response; here the weights define the mean. A = 0 gives 0.

    Args:
        inputs: Log-probabilities, advantages and entropies [N].
        clip_low: Lower clip of the low class.
        clip_high: Upper clip of the low class.
        high_entropy_clip_low: Lower clip of the high class.
        high_entropy_clip_high: Upper clip of the high class.
        quantile: The entropy quantile that separates the classes; None: one class.
        negative_dual_clip: The largest weight for A < 0.
        positive_dual_clip: The largest weight for A > 0.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
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
