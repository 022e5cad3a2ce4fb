"""Archer: a narrow clip where the policy is sure, a wide one where it decides."""

from __future__ import annotations

from trainer.loss.base import LossInputs, LossOutputs
from trainer.loss.entropy import by_class, high_entropy
from trainer.loss.grpo import surrogate


def archer(
    inputs: LossInputs,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    high_entropy_clip_low: float = 0.5,
    high_entropy_clip_high: float = 0.5,
    quantile: float = 0.8,
    dual_clip: float | None = 10.0,
) -> LossOutputs:
    """GRPO's loss, with the clip of the token's entropy class. Wang et al., arXiv 2507.15778 (dual-token constraints).

    The other half of the constraint, KL on the low class only, is in kl.py. Constants: the paper's, and dual_clip from
    the script that trained ArcherCodeR-1.5B. Classes: see entropy.py, with the policy as it is now, as in the published
    code: they may change between two steps on a batch.

    Deviations: the published "token mean" is of a micro-batch of one row, so of a response; here it is what the weights
    say. > in place of the paper's ≥.
    """
    high = high_entropy(inputs.entropy, inputs.sequence, inputs.trains, quantile)
    low_bound = by_class(high, high_entropy_clip_low, clip_low, inputs.logp)
    high_bound = by_class(high, high_entropy_clip_high, clip_high, inputs.logp)
    found = surrogate(inputs.log_ratio.exp(), inputs.advantage, low_bound, high_bound, dual_clip)
    return LossOutputs(found.loss, found.shares | {"high_entropy": high})
