"""The pull back to a reference model: KL(policy ‖ reference), token by token, and how hard it pulls.

Estimates are of what was sampled, not of the full softmax. They assume that the policy itself sampled; off-policy
there is no importance weight on them, as in the published code of GRPO and its heirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from trainer.loss.entropy import by_class, high_entropy

K3_DIFFERENCE_BOUND = 20.0
K3_BOUND = 10.0


def estimate(name: str, logp: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """[N] from log-probabilities [N] by the policy (with its gradient) and by the reference. ValueError for the name.

    Schulman, "Approximating KL Divergence" (2020), with d = reference − logp:

    k1  −d             unbiased; as a loss, useless: its expected gradient is 0.
    k2  d² / 2         biased, little where the two are near; as a loss, the right gradient: that of KL(policy ‖ ref.).
    k3  exp(d) − d − 1 unbiased, never negative; as a loss, the gradient of the other one, KL(reference ‖ policy).

    On the gradients: Tang and Munos, arXiv 2506.09477. k2 pulls a token's logp up by d, k3 by exp(d) − 1: near the
    reference that is the same, and far from it k3 pulls up much harder than down. All of them leave out what a token
    does to the tokens after it. The published algorithms use k3.

    k3 has verl's clamps: d to ±20, and the result to ±10. Where a clamp is at work there is *no gradient*: that is for
    d above 2.61 (a token that the reference finds 13.6 times as likely) and below −11.0. k1 and k2 have none.
    """
    if name not in _ESTIMATORS:
        raise ValueError(f"kl.estimator: {name!r} is none of {', '.join(_ESTIMATORS)}")
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
    """[N]: what each token's estimate is multiplied by; the same for all, or one for each entropy class.

    Archer (arXiv 2507.15778) adds two means, each over its own class of tokens. We have one mean over all tokens, of
    which the low class is `quantile` and the high one the rest. So the low class gets coefficient / quantile, and the
    high one high_entropy_coefficient / (1 − quantile): the same sum, but for responses too short for the quantile.
    """
    if high_entropy_coefficient is None:
        return torch.full_like(entropy, coefficient)
    high = high_entropy(entropy, sequence, trains, quantile)
    return by_class(high, high_entropy_coefficient / (1 - quantile), coefficient / quantile, entropy)


def _k1(difference: torch.Tensor) -> torch.Tensor:
    return -difference


def _k2(difference: torch.Tensor) -> torch.Tensor:
    return difference.square() / 2


def _k3(difference: torch.Tensor) -> torch.Tensor:
    bounded = difference.clamp(-K3_DIFFERENCE_BOUND, K3_DIFFERENCE_BOUND)
    return (torch.expm1(bounded) - bounded).clamp(-K3_BOUND, K3_BOUND)  # expm1: near 0 the rest would be rounding


_ESTIMATORS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {"k1": _k1, "k2": _k2, "k3": _k3}
