"""What a loss is given, and what it gives back. All tensors are one number a response token, rows end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

LOG_RATIO_BOUND = 20.0  # exp beyond it is of no use to anybody, and inf is of harm


@dataclass(frozen=True)
class LossInputs:
    """N response tokens of S rows. Only `logp` has a gradient."""

    logp: torch.Tensor  # [N] by the policy as it is
    old: torch.Tensor  # [N] by the policy before the batch's first step, or by the engine that sampled
    advantage: torch.Tensor  # [N] the same for all tokens of a row
    entropy: torch.Tensor  # [N] of the policy as it is, of the full softmax; detached
    sequence: torch.Tensor  # [N] int64: its row, 0 … S-1
    trains: torch.Tensor  # [N] bool: false where the weight is 0, so that quantiles and means are not of what is masked

    @property
    def log_ratio(self) -> torch.Tensor:
        """The logarithm of the ratio r, bounded (beyond the bound it has no gradient)."""
        return bounded(self.logp - self.old)


@dataclass(frozen=True)
class LossOutputs:
    """A loss for each token, to be weighted and summed by whoever asked; and what is worth watching, as masks.

    The masks have the same names in all losses, and low and high are about the ratio. `clip_low`: A < 0 and it is below
    the trust region; `clip_high`: A > 0 and it is above. `dual_high`: A < 0 and it is above a second bound; `dual_low`:
    A > 0 and it is below one. `high_entropy`: the token is of that class.
    """

    loss: torch.Tensor  # [N] with a gradient
    shares: dict[str, torch.Tensor] = field(default_factory=dict)  # name → [N] bool: the share of tokens is reported


Loss = Callable[..., LossOutputs]


def bounded(log_ratio: torch.Tensor) -> torch.Tensor:
    """[N] → [N], between −20 and 20."""
    return log_ratio.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)


def row_mean(values: torch.Tensor, sequence: torch.Tensor, trains: torch.Tensor) -> torch.Tensor:
    """[N] → [N]: for each token the mean of its row, over the tokens that train. 0 for a row where none does.

    Summed in double precision: a GPU adds in any order, and a run must be repeatable to the bit of a float32.
    """
    counts = torch.bincount(sequence[trains], minlength=torch.bincount(sequence).numel())
    sums = torch.zeros(counts.numel(), dtype=torch.float64, device=values.device)
    sums = sums.index_add(0, sequence[trains], values[trains].double())
    return (sums / counts.clamp(min=1))[sequence].to(values.dtype)
