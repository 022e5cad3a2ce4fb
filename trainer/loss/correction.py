"""Importance correction for the numerical difference between the sampling engine and the trainer.

Both compute slightly different log-probabilities from the same weights, so samples are slightly off-policy from the
start. The factors here multiply the loss and have no gradient. The loss's own ratio is between two log-probabilities of
the trainer and does not include this difference. If the loss uses the engine's log-probabilities as old ones
(`loss.old = "behaviour"`), its ratio covers the difference and every factor is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from trainer.loss.base import bounded, row_mean

Corrected = tuple[torch.Tensor, torch.Tensor]  # factors [N], and where a bound applied [N] bool


def correct(
    name: str,
    old: torch.Tensor,
    behaviour: torch.Tensor,
    sequence: torch.Tensor,
    trains: torch.Tensor,
    *,
    low: float = 0.5,
    high: float = 2.0,
) -> Corrected:
    """Return correction factors, with ratio = exp(old − behaviour).

        none      1.
        tis       min(ratio, high). Truncated importance sampling: Yao, Liu et al. 2025, "Your efficient RL framework
                  secretly brings you off-policy RL training", with high = 2. `low` is not used.
        icepop    the ratio between low and high, 0 outside. IcePop: the Ling team, "Small leak can sink a great ship"
                  (2025), and the Ring-1T report, arXiv 2510.18855, with 0.5 and 5.
        sequence  0 for responses whose ratio (the geometric mean over tokens) is outside [low, high], 1 otherwise.
                  After the sequence-level masked importance sampling of Liu, Li et al. 2025, "When speed kills
                  stability", which uses the product of the ratios and keeps it as a factor. The geometric mean does not
                  grow with the length and needs a far narrower band than tokens: 0.5 to 2 only catches broken ones.

    Masked tokens stay in the denominator of the mean.

    Args:
        name: The rule.
        old: [N] log-probabilities by the trainer's old policy.
        behaviour: [N] log-probabilities by the sampling engine.
        sequence: [N] int64, the token's row.
        trains: [N] bool.
        low: The lower bound of the ratio.
        high: The upper bound of the ratio.

    Returns:
        Factors [N], and where a bound applied [N] bool.
    """
    log_ratio = bounded((old - behaviour).detach())
    if name == "sequence":
        log_ratio = row_mean(log_ratio, sequence, trains)
    return _RULES[name](log_ratio.exp(), low, high)


def _none(ratio: torch.Tensor, _low: float, _high: float) -> Corrected:
    return torch.ones_like(ratio), torch.zeros_like(ratio, dtype=torch.bool)


def _tis(ratio: torch.Tensor, _low: float, high: float) -> Corrected:
    return ratio.clamp(max=high), ratio > high


def _icepop(ratio: torch.Tensor, low: float, high: float) -> Corrected:
    outside = (ratio < low) | (ratio > high)
    return torch.where(outside, 0.0, ratio), outside


def _sequence(ratio: torch.Tensor, low: float, high: float) -> Corrected:
    outside = (ratio < low) | (ratio > high)
    return (~outside).to(ratio.dtype), outside


_RULES: Mapping[str, Callable[[torch.Tensor, float, float], Corrected]] = {
    "none": _none,
    "tis": _tis,
    "icepop": _icepop,
    "sequence": _sequence,
}
