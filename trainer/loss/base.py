"""Inputs and outputs of a loss, and functions of several losses: means and quantiles over a response.

All tensors have one number a response token, rows end to end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

LOG_RATIO_BOUND = 20.0  # keeps exp(log ratio) finite


@dataclass(frozen=True)
class LossInputs:
    """N response tokens of S rows. Only `logp` has a gradient."""

    logp: Tensor  # [N] by the current policy
    old: Tensor  # [N] by the policy before the batch's first step, or by the engine that sampled
    advantage: Tensor  # [N] equal for all tokens of a row
    entropy: Tensor  # [N] of the current policy's full softmax, in nats; detached
    sequence: Tensor  # [N] int64: the token's row, 0 … S-1

    @property
    def log_ratio(self) -> Tensor:
        """Log r = logp − old [N], clamped to ±20; the gradient is 0 beyond the bound."""
        return bounded(self.logp - self.old)


@dataclass(frozen=True)
class LossOutputs:
    """A loss for each token, to be weighted and summed by the caller, and masks to be reported as shares of tokens.

    The masks have the same names in all losses. `clip_low`: A < 0 and the ratio is below the trust region; `clip_high`:
    A > 0 and it is above. `dual_high`: A < 0 and it is above a second bound; `dual_low`: A > 0 and it is below one.
    `high_entropy`: the token is in that class.
    """

    loss: Tensor  # [N] with a gradient
    shares: dict[str, Tensor] = field(default_factory=dict)  # name → [N] bool


Loss = Callable[..., LossOutputs]


def bounded(log_ratio: Tensor) -> Tensor:
    """Clamp log ratios to ±20."""
    return log_ratio.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)


def row_mean(values: Tensor, sequence: Tensor) -> Tensor:
    """Return for each token the mean of the values over its row.

    Sums are in double precision: a GPU adds in any order, and runs must be repeatable to the bit of a float32.
    """
    counts = torch.bincount(sequence)
    sums = torch.zeros(counts.numel(), dtype=torch.float64, device=values.device)
    sums = sums.index_add(0, sequence, values.double())
    return (sums / counts.clamp(min=1))[sequence].to(values.dtype)


def high_entropy(entropy: Tensor, sequence: Tensor, quantile: float) -> Tensor:
    """Return whether each token is of the high class [N] ("reasoning"): its entropy is above its response's quantile.

    Archer, arXiv 2507.15778. Quantiles are per response, because a quantile of the whole batch finds almost no high
    tokens in confident responses; they are interpolated linearly, as by torch.quantile. The paper has ≥ and its code >;
    here it is >, so a response of one token, or of equal entropies, has no high token. In the published code
    `high_entropy_mask` is true for the *low* class ("knowledge").
    """
    values = entropy.detach().double()
    return values > _quantiles(values, sequence, quantile)[sequence] if values.numel() else values > 0


def by_class(high: Tensor, of_high: float, of_low: float, like: Tensor) -> Tensor:
    """Return `of_high` for tokens of the high class (mask [N]), else `of_low`, in the type of the tensor `like`."""
    return torch.where(high, like.new_tensor(of_high), like.new_tensor(of_low))


def _quantiles(values: Tensor, rows: Tensor, quantile: float) -> Tensor:
    """Return the quantile of each row [S] with a single sort. Rows without values get an arbitrary number."""
    order = values.argsort()
    order = order[rows[order].argsort(stable=True)]
    ranked = values[order]  # by row, and by value in each
    counts = torch.bincount(rows)
    start = counts.cumsum(0) - counts
    place = quantile * (counts - 1).clamp(min=0).double()
    last = ranked.numel() - 1
    below = ranked[(start + place.floor().long()).clamp(max=last)]
    above = ranked[(start + place.ceil().long()).clamp(max=last)]
    return below + (above - below) * place.frac()
