"""CISPO: clips the importance weight and keeps the gradient of every token."""

from __future__ import annotations

from trainer.loss.base import LossInputs, LossOutputs


def cispo(inputs: LossInputs, *, clip_low: float = 1.0, clip_high: float = 4.0) -> LossOutputs:
    """Loss = −A · sg(clip(r, 1 − clip_low, 1 + clip_high)) · logp. MiniMax-M1, arXiv 2506.13585, eq. 4 and 5.

    Rare tokens that start a new line of reasoning have ratios that PPO clips in the first steps; here they keep a
    gradient. sg stops the gradient. The value of the loss is not meaningful.

    The paper has no lower bound (1.0 is equivalent to none) and does not state its upper one; weights up to 5 are this
    trainer's choice. Unlike in other losses, `clip_low` and `clip_high` are reported for either sign of A, because this
    clip does not depend on it.

    Args:
        inputs: Log-probabilities and advantages [N].
        clip_low: The weight is at least 1 − clip_low.
        clip_high: The weight is at most 1 + clip_high.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
    """
    ratio = inputs.log_ratio.detach().exp()
    weight = ratio.clamp(1 - clip_low, 1 + clip_high)
    shares = {"clip_low": ratio < 1 - clip_low, "clip_high": ratio > 1 + clip_high}
    return LossOutputs(-inputs.advantage * weight * inputs.logp, shares)
