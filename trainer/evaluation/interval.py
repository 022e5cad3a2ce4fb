"""How far a figure might be off, had other problems been asked and other samples been drawn.

Problems are taken as drawn from all that could have been asked, and a problem's samples as one cluster, for they are
not independent of each other. The standard error is then that of the mean of the problems' scores: Miller 2024,
"Adding Error Bars to Evals", arXiv 2411.00640, sections 2.1 and 2.2 (clusters of one size).

A mean ± 1.96 standard errors leaves [0, 1], and is a point where all scores are the same, as they are where a model
solves all of HumanEval. So the interval is Wilson's (1927), with as many independent trials as would have this
standard error: a score in [0, 1] with mean p varies by at most p(1 - p), so N problems count for about N trials or
more. At most they count for all samples that there are. Effective sample sizes of this kind: Korn and Graubard 1998,
"Confidence intervals for proportions with small expected number of positive counts"; with Wilson's interval they
are compared in Dean and Pagano 2015, "Evaluating confidence interval methods for binomial proportions in clustered
surveys".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean of scores in [0, 1], and where it is with 95 % confidence."""

    value: float
    low: float
    high: float
    error: float  # the standard error
    problems: int

    def plain(self) -> dict[str, float]:
        """For a file."""
        return {"value": self.value, "low": self.low, "high": self.high, "error": self.error, "n": self.problems}


def estimate(scores: Sequence[float], samples: int, level: float = LEVEL) -> Estimate | None:
    """Of a score for each problem, that `samples` samples in all have made; None if there are none."""
    if not scores:
        return None
    mean = fmean(scores)
    error = stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0
    low, high = _wilson(mean, _trials(scores, mean, error, samples), level)
    return Estimate(mean, low, high, error, len(scores))


def _trials(scores: Sequence[float], mean: float, error: float, samples: int) -> float:
    """How many independent ones would say as much."""
    spread = mean * (1 - mean)
    if spread <= 0 or len(scores) == 1:  # all or none: problems may still differ, so each counts once
        return len(scores)
    most = float(max(samples, len(scores)))
    return min(spread / error**2, most) if error else most


def _wilson(mean: float, trials: float, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + z * z / trials
    centre = (mean + z * z / (2 * trials)) / shrink
    reach = z / shrink * math.sqrt(max(mean * (1 - mean) / trials + z * z / (4 * trials**2), 0.0))
    return max(min(centre - reach, mean), 0.0), min(max(centre + reach, mean), 1.0)
