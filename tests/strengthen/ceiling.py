"""The largest rank correlation that a perfect prediction can reach, where each problem has few programs.

The shares that are predicted are shares of one to seven programs: they vary by chance. Here the true rates of the
problems are drawn from what the programs say about them (a beta distribution that fits all problems, updated by each
problem's own programs), programs from the rates, and the true rates themselves are the prediction.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

DRAWS = 2000
GRID = [2 ** (step / 2) for step in range(-10, 13)]  # the parameters of the beta distribution that are tried

Counts = tuple[int, int]
"""Programs that were refused, and all."""


def ceiling(
    counts: Sequence[Counts], correlation: Callable[[Sequence[float], Sequence[float]], float | None]
) -> tuple[float, float, float]:
    """Return the median of the correlation of a perfect prediction, and the bounds of 95 % of the draws.

    Args:
        counts: Of each problem.
        correlation: The measure; None for no variance.
    """
    a, b = max(((a, b) for a in GRID for b in GRID), key=lambda pair: likelihood(counts, *pair))
    chance = random.Random(0)
    found = []
    for _ in range(DRAWS):
        rates = [chance.betavariate(a + refused, b + every - refused) for refused, every in counts]
        shares = [
            sum(chance.random() < rate for _ in range(every)) / every
            for rate, (_, every) in zip(rates, counts, strict=True)
        ]
        if (value := correlation(rates, shares)) is not None:
            found.append(value)
    found.sort()
    median, low, high = (round(found[int(part * (len(found) - 1))], 2) for part in (0.5, 0.025, 0.975))
    return median, low, high


def likelihood(counts: Sequence[Counts], a: float, b: float) -> float:
    """Return the logarithm of the probability of the counts, but for a constant.

    Args:
        counts: Of each problem.
        a: Of the beta distribution of the rates.
        b: Its other parameter.
    """
    return sum(_beta(a + refused, b + every - refused) - _beta(a, b) for refused, every in counts)


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
