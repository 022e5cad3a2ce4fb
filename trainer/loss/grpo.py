"""PPO's clipped surrogate: the loss of GRPO, DAPO and GRPO+, which differ in constants, mean and filters."""

from __future__ import annotations

import torch

from trainer.loss.base import LossInputs, LossOutputs

Bound = float | torch.Tensor  # one for all tokens, or one each [N]


def grpo(
    inputs: LossInputs, *, clip_low: float = 0.2, clip_high: float = 0.2, dual_clip: float | None = None
) -> LossOutputs:
    """Loss = max(−A·r, −A·clip(r, 1 − clip_low, 1 + clip_high)); with `dual_clip` c, for A < 0 at most −A·c.

    r = exp(logp − old). GRPO: DeepSeekMath, arXiv 2402.03300, eq. 3, whose KL term is in kl.py. DAPO: arXiv 2503.14476,
    clip_high 0.28 ("clip-higher") and, in its recipe only, dual_clip 10. GRPO+: the DeepCoder blog, 0.2 and 0.28.
    Dual clip: Ye et al., arXiv 1912.09729; the gradient is 0 where A < 0 and r > c.

    The weights define the mean: by response for GRPO, by token for DAPO and GRPO+.
    Deviations: log r is bounded by ±20, as in the published code. verl's dual clip is 3 by default and cannot be
    disabled; here it is disabled by default, as in the papers.

    Args:
        inputs: Log-probabilities and advantages [N].
        clip_low: The trust region begins at 1 − clip_low.
        clip_high: The trust region ends at 1 + clip_high.
        dual_clip: Upper bound of the ratio for A < 0; None disables it.

    Returns:
        The loss of each token [N], and the masks of clipped tokens.
    """
    return surrogate(inputs.log_ratio.exp(), inputs.advantage, clip_low, clip_high, dual_clip)


def surrogate(
    ratio: torch.Tensor, advantage: torch.Tensor, clip_low: Bound, clip_high: Bound, dual_clip: float | None
) -> LossOutputs:
    """Return the clipped surrogate.

    Written with cases instead of min and max: value and gradient are the same, and the cases are the reported masks.

    Args:
        ratio: [N] with a gradient.
        advantage: [N].
        clip_low: As for `grpo`, or [N].
        clip_high: As for `grpo`, or [N].
        dual_clip: As for `grpo`.
    """
    shares = {
        "clip_low": (advantage < 0) & (ratio < 1 - clip_low),
        "clip_high": (advantage > 0) & (ratio > 1 + clip_high),
    }
    used = torch.where(shares["clip_low"], 1 - clip_low, ratio)
    used = torch.where(shares["clip_high"], 1 + clip_high, used)
    if dual_clip is not None:
        shares["dual_high"] = (advantage < 0) & (ratio > dual_clip)
        used = torch.where(shares["dual_high"], dual_clip, used)
    return LossOutputs(-advantage * used, shares)
