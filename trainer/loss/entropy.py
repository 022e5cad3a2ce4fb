"""Two classes of tokens: where the policy was nearly sure ("knowledge"), and where it had to decide ("reasoning").

Nothing here has a gradient.
"""

from __future__ import annotations

import torch


def high_entropy(entropy: torch.Tensor, sequence: torch.Tensor, trains: torch.Tensor, quantile: float) -> torch.Tensor:
    """[N] bool: whether a token's entropy is above the quantile of its own response's tokens.

    entropy [N], sequence [N] its row, trains [N]: tokens that don't are in neither class and in no quantile.
    `quantile` is from 0 to 1, interpolated linearly as by torch.quantile. ValueError if it is not.

    Archer, arXiv 2507.15778: by response, because a quantile of the whole batch finds next to no decisions in responses
    that are sure of themselves. The paper says ≥, its code >; here it is >, so in a response of one token, or of equal
    ones, none is high. In the published code `high_entropy_mask` is true for the *low* class.
    """
    if not 0 <= quantile <= 1:
        raise ValueError(f"quantile: {quantile} is not between 0 and 1")
    high = torch.zeros_like(trains)
    values, rows = entropy.detach()[trains].double(), sequence[trains]
    if values.numel():
        high[trains] = values > _quantiles(values, rows, quantile)[rows]
    return high


def by_class(high: torch.Tensor, of_high: float, of_low: float, like: torch.Tensor) -> torch.Tensor:
    """[N] in the type of `like`: one number for the tokens of high entropy, another for the rest."""
    return torch.where(high, like.new_tensor(of_high), like.new_tensor(of_low))


def _quantiles(values: torch.Tensor, rows: torch.Tensor, quantile: float) -> torch.Tensor:
    """Of each row [S]: all rows are sorted at once. A row without values gets some other's, which nobody asks for."""
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
