"""The KL penalty towards a reference model: per-token estimates of KL(policy ‖ reference) and their coefficients.

Estimates are of the sampled tokens, not of the full softmax. They assume on-policy samples; off-policy there is no
importance weight, as in the published code of GRPO and its successors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from trainer.loss.entropy import by_class, high_entropy

K3_DIFFERENCE_BOUND = 20.0
K3_BOUND = 10.0


def estimate(name: str, logp: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Return a per-token estimate of KL(policy ‖ reference).

    Schulman, "Approximating KL Divergence" (2020), with d = reference − logp:

    k1  −d             unbiased; useless as a loss, because its expected gradient is 0.
    k2  d² / 2         biased, little where the two are near; as a loss, the gradient of KL(policy ‖ reference).
    k3  exp(d) − d − 1 unbiased, never negative; as a loss, the gradient of KL(reference ‖ policy).

    On the gradients: Tang and Munos, arXiv 2506.09477. k2 raises a token's logp by d, k3 by exp(d) − 1: near the
    reference they agree, and far from it k3 raises logp much more strongly than it lowers it. All of them ignore a
    token's influence on later tokens. The published algorithms use k3.

    k3 has verl's clamps: d to ±20, and the result to ±10. A clamped token has *no gradient*: d above 2.61 (a token that
    the reference finds 13.6 times as likely) or below −11.0. k1 and k2 have no clamps.

    Args:
        name: "k1", "k2" or "k3".
        logp: [N] by the policy, with gradient.
        reference: [N] by the reference model.

    Returns:
        [N], in nats.
    """
    return _ESTIMATORS[name](reference - logp)


def coefficients(
    entropy: torch.Tensor,
    sequence: torch.Tensor,
    trains: torch.Tensor,
    *,
    coefficient: float,
    high_entropy_coefficient: float | None = None,
    quantile: float = 0.8,
) -> torch.Tensor:
    """Return the coefficient of each token's KL estimate.

    Archer (arXiv 2507.15778) adds two means, each over its entropy class. Here there is one mean over all tokens, a
    share `quantile` of which is in the low class. The low class therefore gets coefficient / quantile and the high
    class high_entropy_coefficient / (1 − quantile), which gives the same sum except for responses too short for the
    quantile.

    Args:
        entropy: [N], in nats.
        sequence: [N] int64, the token's row.
        trains: [N] bool.
        coefficient: The coefficient of all tokens, or of the low class.
        high_entropy_coefficient: The coefficient of the high class; None: one class.
        quantile: The entropy quantile that separates the classes.
    """
    if high_entropy_coefficient is None:
        return torch.full_like(entropy, coefficient)
    high = high_entropy(entropy, sequence, trains, quantile)
    return by_class(high, high_entropy_coefficient / (1 - quantile), coefficient / quantile, entropy)


def _k3(difference: torch.Tensor) -> torch.Tensor:
    bounded = difference.clamp(-K3_DIFFERENCE_BOUND, K3_DIFFERENCE_BOUND)
    return (torch.expm1(bounded) - bounded).clamp(-K3_BOUND, K3_BOUND)  # expm1 avoids cancellation near 0


_ESTIMATORS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "k1": torch.neg,
    "k2": lambda difference: difference.square() / 2,
    "k3": _k3,
}
