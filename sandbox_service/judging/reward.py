"""What a verdict is worth. Nothing is paid, and nothing is withheld, for what was our fault: then there is no number.

This module does not decide whether a test was passed, and trusts nobody else's count of the tests that were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from sandbox_service.schema import Reward, TestResult, Verdict


def score(
    reward: Reward,
    verdict: Verdict,
    results: Iterable[TestResult],
    weights: Sequence[float],
    *,
    no_format: bool = False,
) -> float | None:
    """The reward for `verdict`, or None where no number can be given.

    `weights` has one entry per test, run or not; `results` those that were run. `no_format` says that no program was
    found in the completion. None for IE, and also where only a part of the tests is paid for and one of them has no
    verdict: what that one would have added is unknown.
    """
    if verdict == Verdict.IE:
        return None
    if reward.scheme == "all_or_nothing":
        return 1.0 if verdict == Verdict.AC else 0.0
    if reward.scheme == "values":
        return _value(reward, verdict, no_format)
    return _part(results, weights if reward.scheme == "weighted" else [1.0] * len(weights))


def _value(reward: Reward, verdict: Verdict, no_format: bool) -> float:
    if no_format:
        return reward.no_format
    return reward.passed if verdict == Verdict.AC else reward.failed


def _part(results: Iterable[TestResult], weights: Sequence[float]) -> float | None:
    verdicts = {result.index: result.verdict for result in results}
    if Verdict.IE in verdicts.values():
        return None
    # Scaled to the heaviest: no sum overflows, and all of the tests together are exactly 1.
    heaviest = max(weights)
    scaled = [weight / heaviest for weight in weights]
    passed = fsum(weight for index, weight in enumerate(scaled) if verdicts.get(index) == Verdict.AC)
    return passed / fsum(scaled)
