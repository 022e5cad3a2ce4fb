"""Computes the reward of a verdict. A fault of the service has no reward: the result is None.

This module does not decide whether a test was passed, and counts the passed tests itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from sandbox_service.judging.scoring import share_of, total_share
from sandbox_service.schema import GroupResult, Reward, TestResult, Verdict


def score(
    reward: Reward,
    verdict: Verdict,
    results: Iterable[TestResult],
    weights: Sequence[float],
    *,
    no_format: bool = False,
    suspect: bool = False,
    groups: Sequence[GroupResult] | None = None,
) -> float | None:
    """Return the reward for a verdict.

    Args:
        reward: the reward scheme.
        verdict: the submission's verdict.
        results: the results of the tests that were run.
        weights: one weight for each test, run or not; 0 for audit tests.
        no_format: no program was found in the completion.
        suspect: an audit test failed.
        groups: the scores of the groups of tests, if there are groups.

    Returns:
        The reward. None for IE, and, under a scheme that pays for single tests, if one of the tests has no verdict: its
        contribution is unknown.
    """
    if verdict == Verdict.IE:
        return None
    if suspect and reward.suspect is not None:
        return reward.suspect
    if reward.scheme == "all_or_nothing":
        return 1.0 if verdict == Verdict.AC else 0.0
    if reward.scheme == "values":
        return _value(reward, verdict, no_format)
    results = list(results)
    if Verdict.IE in (result.verdict for result in results):
        return None
    if reward.scheme == "score" and groups is not None:
        return total_share(groups)
    return _part(results, [float(weight > 0) for weight in weights] if reward.scheme == "fraction" else weights)


def _value(reward: Reward, verdict: Verdict, no_format: bool) -> float:
    if no_format:
        return reward.no_format
    return reward.passed if verdict == Verdict.AC else reward.failed


def _part(results: Iterable[TestResult], weights: Sequence[float]) -> float:
    done = {result.index: result for result in results}
    # Scaled to the heaviest: no sum overflows, and all of the tests together are exactly 1.
    heaviest = max(weights)
    scaled = [weight / heaviest for weight in weights]
    passed = fsum(weight * share_of(done.get(index)) for index, weight in enumerate(scaled))
    return passed / fsum(scaled)
