"""Confidence intervals over the choice of problems and the randomness of samples.

Problems are treated as drawn from a population, and a problem's samples as one cluster, because they are not
independent. The standard error is then that of the mean of the problems' scores: Miller 2024, "Adding Error Bars to
Evals", arXiv 2411.00640, sections 2.1 and 2.2 (clusters of one size).

A mean ± 1.96 standard errors can leave [0, 1], and collapses to a point where all scores are equal. The interval is
therefore Wilson's (1927), with as many independent trials as would have this standard error: a score in [0, 1] with
mean p has variance at most p(1 - p), so N problems count for about N trials or more, and at most for all samples.
Effective sample sizes of this kind: Korn and Graubard 1998, "Confidence intervals for proportions with small expected
number of positive counts"; with Wilson's interval they are compared in Dean and Pagano 2015, "Evaluating confidence
interval methods for binomial proportions in clustered surveys".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean of scores in [0, 1] with its 95 % interval."""

    value: float
    low: float
    high: float
    error: float  # the standard error
    problems: int

    def plain(self) -> dict[str, float]:
        """Return the fields as a dict."""
        return {"value": self.value, "low": self.low, "high": self.high, "error": self.error, "n": self.problems}


def estimate(scores: Sequence[float], samples: int, level: float = LEVEL) -> Estimate | None:
    """Return the mean and interval of scores, None without scores.

    Args:
        scores: One score a problem.
        samples: The number of samples behind all scores.
        level: The confidence level.
    """
    if not scores:
        return None
    mean = fmean(scores)
    error = stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0
    low, high = _wilson(mean, _trials(scores, mean, error, samples), level)
    return Estimate(mean, low, high, error, len(scores))


def _trials(scores: Sequence[float], mean: float, error: float, samples: int) -> float:
    """Return the number of independent trials with the same standard error."""
    spread = mean * (1 - mean)
    if spread <= 0 or len(scores) == 1:  # no observed variance: each problem counts once
        return len(scores)
    most = float(max(samples, len(scores)))
    return min(spread / error**2, most) if error else most


def _wilson(mean: float, trials: float, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + z * z / trials
    centre = (mean + z * z / (2 * trials)) / shrink
    reach = z / shrink * math.sqrt(max(mean * (1 - mean) / trials + z * z / (4 * trials**2), 0.0))
    return max(min(centre - reach, mean), 0.0), min(max(centre + reach, mean), 1.0)
