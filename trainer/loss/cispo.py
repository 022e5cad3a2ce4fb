"""CISPO: the importance weight is clipped, the gradient never."""

from __future__ import annotations

from trainer.loss.base import LossInputs, LossOutputs


def cispo(inputs: LossInputs, *, clip_low: float = 1.0, clip_high: float = 4.0) -> LossOutputs:
    """Loss = −A · sg(clip(r, 1 − clip_low, 1 + clip_high)) · logp. MiniMax-M1, arXiv 2506.13585, eq. 4 and 5.

    Rare tokens that begin a new thought have ratios that PPO would clip away in the first steps; here they keep a
    gradient. sg stops the gradient. Its value is nothing to plot.

    Constants: the paper has no lower bound (1.0 is the same as none) and does not print its upper one: weights up to 5
    are this trainer's choice. `clip_low` and `clip_high` are reported for either sign of A: unlike the others', this
    clip does not ask for it.
    """
    ratio = inputs.log_ratio.detach().exp()
    weight = ratio.clamp(1 - clip_low, 1 + clip_high)
    shares = {"clip_low": ratio < 1 - clip_low, "clip_high": ratio > 1 + clip_high}
    return LossOutputs(-inputs.advantage * weight * inputs.logp, shares)
