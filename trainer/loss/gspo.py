"""GSPO: one importance ratio for a whole response, which is clipped as a whole."""

from __future__ import annotations

from trainer.loss.base import LossInputs, LossOutputs, row_mean
from trainer.loss.grpo import surrogate


def gspo(inputs: LossInputs, *, clip_low: float = 3e-4, clip_high: float = 4e-4) -> LossOutputs:
    """PPO's surrogate of s·p/sg(p), with s = exp(mean of log r over the response). Zheng et al., arXiv 2507.18071, eq.
    5, 7.

    sg stops the gradient. This is the token form (GSPO-token, section 4.3): each token has the value of the response's
    ratio and the gradient of its own logp. With weights of 1/|o| a token (`mean = "sequence"`) value and gradient are
    those of eq. 5; a token mean weighs long responses more, which differs from the paper.

    Deviations: log r of a token is bounded by ±20 before the mean. There is no dual clip, as in the paper and in verl.

    Args:
        inputs: Log-probabilities and advantages [N].
        clip_low: The trust region begins at 1 − clip_low.
        clip_high: The trust region ends at 1 + clip_high.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
    """
    sequence_log_ratio = row_mean(inputs.log_ratio.detach(), inputs.sequence, inputs.trains)
    ratio = (sequence_log_ratio + inputs.logp - inputs.logp.detach()).exp()
    return surrogate(ratio, inputs.advantage, clip_low, clip_high, None)
