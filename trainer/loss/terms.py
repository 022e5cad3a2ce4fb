"""The correction for vLLM's numerics and the KL penalty, which join a policy loss in the objective.

vLLM and the trainer compute slightly different log-probabilities from the same weights, so samples are slightly
off-policy from the start. The correction multiplies the loss, without a gradient. It is 1 if the loss's own ratio
covers the difference (`loss.old = "behaviour"`).

Estimates of KL(policy ‖ reference) are of the sampled tokens, without an importance weight where these are off-policy,
as in the published code of GRPO and its successors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trainer.loss.losses import bounded, by_class, high_entropy, row_mean

if TYPE_CHECKING:
    from trainer.config.sections import Correction, Kl

K3_DIFFERENCE_BOUND = 20.0
K3_BOUND = 10.0


def correct(settings: Correction, old: Tensor, behaviour: Tensor, sequence: Tensor) -> tuple[Tensor, Tensor]:
    """Return correction factors [N], and where a bound applied [N] bool, with ratio = exp(old − behaviour).

    By the trainer's old policy and by vLLM; `sequence` is each token's row. By name:

        none      1.
        tis       min(ratio, high). Truncated importance sampling: Yao, Liu et al. 2025, "Your efficient RL framework
                  secretly brings you off-policy RL training", with high = 2. `low` is not used.
        icepop    the ratio between low and high, 0 outside. IcePop: the Ling team, "Small leak can sink a great ship"
                  (2025), and the Ring-1T report, arXiv 2510.18855, with 0.5 and 5.
        sequence  0 for responses whose ratio (the geometric mean over tokens) is outside [low, high], 1 otherwise.
                  After the sequence-level masked importance sampling of Liu, Li et al. 2025, "When speed kills
                  stability", which takes the product. The mean needs a far narrower band than tokens do.

    A factor of 0 stays in the denominator of the mean.
    """
    log_ratio = bounded((old - behaviour).detach())
    if settings.name == "sequence":
        log_ratio = row_mean(log_ratio, sequence)
    ratio = log_ratio.exp()
    if settings.name == "none":
        return torch.ones_like(ratio), torch.zeros_like(ratio, dtype=torch.bool)
    if settings.name == "tis":
        return ratio.clamp(max=settings.high), ratio > settings.high
    outside = (ratio < settings.low) | (ratio > settings.high)
    return torch.where(outside, 0.0, torch.ones_like(ratio) if settings.name == "sequence" else ratio), outside


def estimate(name: str, logp: Tensor, reference: Tensor) -> Tensor:
    """Return the k2 or k3 estimate (name) of KL(policy ‖ reference) for each token [N], in nats.

    Schulman, "Approximating KL Divergence" (2020), with d = reference − logp; on the gradients: Tang and Munos, arXiv
    2506.09477. The published algorithms use k3.

        k2  d² / 2         biased, little where the two are near; as a loss, the gradient of KL(policy ‖ reference).
        k3  exp(d) − d − 1 unbiased, never negative; as a loss, the gradient of KL(reference ‖ policy).

    k3 has verl's clamps: d to ±20, the result to ±10. A clamped token has *no gradient*: d above 2.61 or below −11.0.
    """
    difference = reference - logp
    if name == "k2":
        return difference.square() / 2
    clamped = difference.clamp(-K3_DIFFERENCE_BOUND, K3_DIFFERENCE_BOUND)
    return (torch.expm1(clamped) - clamped).clamp(-K3_BOUND, K3_BOUND)  # expm1 avoids cancellation near 0


def kl_coefficients(settings: Kl, entropy: Tensor, sequence: Tensor) -> Tensor:
    """Return the coefficient of each token's KL estimate [N], by its entropy and its row.

    Archer (arXiv 2507.15778) adds two means, each over its entropy class. Here there is one mean over all tokens, a
    share `quantile` of which is in the low class, so that coefficients are divided by the shares of their classes.
    """
    if settings.high_entropy_coefficient is None:
        return torch.full_like(entropy, settings.coefficient)
    high, low_share = high_entropy(entropy, sequence, settings.quantile), settings.quantile
    of_high, of_low = settings.high_entropy_coefficient / (1 - low_share), settings.coefficient / low_share
    return by_class(high, of_high, of_low, entropy)
