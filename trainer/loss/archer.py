"""Archer: clip bounds by entropy class, narrow for low-entropy tokens and wide for high-entropy ones."""

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
    """GRPO's loss with the clip bounds of the token's entropy class.

    Archer, Wang et al., arXiv 2507.15778 (dual-token constraints). The other half of the constraint, KL for the low
    class only, is in kl.py. The constants are the paper's; dual_clip is from the script that trained ArcherCodeR-1.5B.
    Classes (entropy.py) use the current policy's entropies, as the published code does, so they may change between two
    steps on a batch.

    Deviations: the published "token mean" is over a micro-batch of one row, hence over a response; here the weights
    define the mean. The high class is > the quantile instead of the paper's ≥.

    Args:
        inputs: Log-probabilities, advantages and entropies [N].
        clip_low: Lower clip of the low class.
        clip_high: Upper clip of the low class.
        high_entropy_clip_low: Lower clip of the high class.
        high_entropy_clip_high: Upper clip of the high class.
        quantile: The entropy quantile within a response that separates the classes.
        dual_clip: Upper bound of the ratio for A < 0; None disables it.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
    """
    high = high_entropy(inputs.entropy, inputs.sequence, inputs.trains, quantile)
    low_bound = by_class(high, high_entropy_clip_low, clip_low, inputs.logp)
    high_bound = by_class(high, high_entropy_clip_high, clip_high, inputs.logp)
    found = surrogate(inputs.log_ratio.exp(), inputs.advantage, low_bound, high_bound, dual_clip)
    return LossOutputs(found.loss, found.shares | {"high_entropy": high})
