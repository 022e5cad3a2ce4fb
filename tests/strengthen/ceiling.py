"""The rank correlations that chance allows between predicted shares and the shares of a few programs.

A problem has one to seven wrong programs, so that the share of them that is refused varies by chance, whatever predicts
it. Three figures say how far:

* The prediction is exact: each program is refused with the predicted probability.
* Another prediction is exact: the true rates are drawn from what the programs say about them, a beta distribution that
  fits all problems, updated by each problem's own programs. Where each problem has a single program, nothing tells the
  problems' rates from chance, and there is no figure.
* The prediction has no two equal values, and puts the shares that were seen in their order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

DRAWS = 2000
GRID = [2 ** (step / 2) for step in range(-10, 13)]  # the parameters of the beta distribution that are tried

Counts = tuple[int, int]
"""Programs that were refused, and all."""

Correlation = Callable[[Sequence[float], Sequence[float]], float | None]


def ceilings(predicted: Sequence[float], counts: Sequence[Counts], correlation: Correlation) -> dict[str, Any]:
    """Return the median of each figure and the bounds of 95 % of its draws; none if the predictions are all equal.

    Args:
        predicted: Shares by problem.
        counts: Programs by problem.
        correlation: The measure; None for no variance.
    """
    if correlation(predicted, predicted) is None:
        return {}
    shares = [refused / every for refused, every in counts]
    order = sorted(range(len(counts)), key=lambda place: shares[place])
    return {
        "this prediction is exact": _drawn(lambda _: predicted, counts, correlation),
        "another one is exact": _drawn(_rates(counts), counts, correlation) if _has_several(counts) else None,
        "best order": correlation(range(len(counts)), [shares[place] for place in order]),
    }


def _has_several(counts: Sequence[Counts]) -> bool:
    return any(every > 1 for _, every in counts)


def _rates(counts: Sequence[Counts]) -> Callable[[random.Random], Sequence[float]]:
    """Return draws of the true rates, given the programs."""
    a, b = max(((a, b) for a in GRID for b in GRID), key=lambda pair: likelihood(counts, *pair))
    return lambda chance: [chance.betavariate(a + refused, b + every - refused) for refused, every in counts]


def _drawn(
    rates_of: Callable[[random.Random], Sequence[float]], counts: Sequence[Counts], correlation: Correlation
) -> list[float]:
    """The correlation of rates with the shares of as many programs, which are drawn: median, 2.5 and 97.5 %."""
    chance, found = random.Random(0), []
    for _ in range(DRAWS):
        rates = rates_of(chance)
        drawn = [
            sum(chance.random() < rate for _ in range(every)) / every
            for rate, (_, every) in zip(rates, counts, strict=True)
        ]
        if (value := correlation(rates, drawn)) is not None:
            found.append(value)
    found.sort()
    return [round(found[int(part * (len(found) - 1))], 2) for part in (0.5, 0.025, 0.975)]


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
