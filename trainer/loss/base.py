"""Inputs and outputs of a loss. All tensors have one number a response token, rows end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

LOG_RATIO_BOUND = 20.0  # keeps exp(log ratio) finite


@dataclass(frozen=True)
class LossInputs:
    """N response tokens of S rows. Only `logp` has a gradient."""

    logp: torch.Tensor  # [N] by the current policy
    old: torch.Tensor  # [N] by the policy before the batch's first step, or by the engine that sampled
    advantage: torch.Tensor  # [N] equal for all tokens of a row
    entropy: torch.Tensor  # [N] of the current policy's full softmax, in nats; detached
    sequence: torch.Tensor  # [N] int64: the token's row, 0 … S-1
    trains: torch.Tensor  # [N] bool: false where the weight is 0; quantiles and means exclude these

    @property
    def log_ratio(self) -> torch.Tensor:
        """Log r = logp − old [N], clamped to ±20; the gradient is 0 beyond the bound."""
        return bounded(self.logp - self.old)


@dataclass(frozen=True)
class LossOutputs:
    """A loss for each token, to be weighted and summed by the caller, and masks to be reported as shares of tokens.

    The masks have the same names in all losses. `clip_low`: A < 0 and the ratio is below the trust region; `clip_high`:
    A > 0 and it is above. `dual_high`: A < 0 and it is above a second bound; `dual_low`: A > 0 and it is below one.
    `high_entropy`: the token is in that class.
    """

    loss: torch.Tensor  # [N] with a gradient
    shares: dict[str, torch.Tensor] = field(default_factory=dict)  # name → [N] bool


Loss = Callable[..., LossOutputs]


def bounded(log_ratio: torch.Tensor) -> torch.Tensor:
    """Clamp log ratios to ±20."""
    return log_ratio.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)


def row_mean(values: torch.Tensor, sequence: torch.Tensor, trains: torch.Tensor) -> torch.Tensor:
    """Return for each token the mean over its row, restricted to the tokens that train; 0 for rows without any.

    Sums are in double precision: a GPU adds in any order, and runs must be repeatable to the bit of a float32.
    """
    counts = torch.bincount(sequence[trains], minlength=torch.bincount(sequence).numel())
    sums = torch.zeros(counts.numel(), dtype=torch.float64, device=values.device)
    sums = sums.index_add(0, sequence[trains], values[trains].double())
    return (sums / counts.clamp(min=1))[sequence].to(values.dtype)
