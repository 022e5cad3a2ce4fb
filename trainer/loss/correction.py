"""The engine that samples and the one that trains do not compute the same, even with the same weights.

So what was sampled is slightly off-policy from the start. The factors here go with the loss, and have no gradient; the
ratio inside the loss is between two log-probabilities of the trainer's own and knows nothing of it. If the loss takes
the engine's log-probabilities as old ones, its ratio is the whole way already, and every factor is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from trainer.loss.base import bounded, row_mean

Corrected = tuple[torch.Tensor, torch.Tensor]  # factors [N], and whether a bound was at work [N] bool


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
    """Factors [N] and which of them were cut [N], from log-probabilities [N]; ratio = exp(old − behaviour).

    none      1.
    tis       min(ratio, high). Truncated importance sampling: Yao, Liu et al. 2025, "Your efficient RL framework
              secretly brings you off-policy RL training"; high 2 is theirs. `low` is not used.
    icepop    the ratio between low and high, 0 outside. IcePop: the Ling team, "Small leak can sink a great ship"
              (2025), and the Ring-1T report, arXiv 2510.18855; they take 0.5 and 5.
    sequence  0 for responses whose ratio (the geometric mean of their tokens') is outside, 1 for the others. After the
              sequence-level masked importance sampling of Liu, Li et al. 2025, "When speed kills stability", which
              takes the product of the ratios and keeps it as a factor; the geometric mean does not grow with the
              length, and wants a far narrower band than tokens do: 0.5 to 2 only catches what is broken.

    What is cut stays in the denominator of the mean. ValueError for a name that is not known.
    """
    if name not in _RULES:
        raise ValueError(f"correction.name: {name!r} is none of {', '.join(_RULES)}")
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
