"""Classifies tokens by entropy: low ("knowledge") and high ("reasoning"). Nothing here has a gradient."""

from __future__ import annotations

import torch


def high_entropy(entropy: torch.Tensor, sequence: torch.Tensor, trains: torch.Tensor, quantile: float) -> torch.Tensor:
    """Return whether each token's entropy is above the quantile of its own response.

    Archer, arXiv 2507.15778. Quantiles are per response, because a quantile of the whole batch finds almost no high
    tokens in confident responses. The paper has ≥ and its code >; here it is >, so a response of one token, or of equal
    entropies, has no high token. In the published code `high_entropy_mask` is true for the *low* class.

    Args:
        entropy: [N], in nats.
        sequence: [N] int64, the token's row.
        trains: [N] bool; other tokens are in neither class and in no quantile.
        quantile: From 0 to 1, interpolated linearly as by torch.quantile.

    Returns:
        [N] bool.

    Raises:
        ValueError: `quantile` is not between 0 and 1.
    """
    if not 0 <= quantile <= 1:
        raise ValueError(f"quantile: {quantile} is not between 0 and 1")
    high = torch.zeros_like(trains)
    values, rows = entropy.detach()[trains].double(), sequence[trains]
    if values.numel():
        high[trains] = values > _quantiles(values, rows, quantile)[rows]
    return high


def by_class(high: torch.Tensor, of_high: float, of_low: float, like: torch.Tensor) -> torch.Tensor:
    """Return one number for high-entropy tokens and another for the rest.

    Args:
        high: [N] bool.
        of_high: The number of the high class.
        of_low: The number of the low class.
        like: A tensor with the type and device of the result.
    """
    return torch.where(high, like.new_tensor(of_high), like.new_tensor(of_low))


def _quantiles(values: torch.Tensor, rows: torch.Tensor, quantile: float) -> torch.Tensor:
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
