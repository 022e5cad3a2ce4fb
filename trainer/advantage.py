"""Group-relative advantages: one number an episode, used for all of its tokens.

Masked episodes (reward None) are excluded from mean and deviation and get advantage 0. Rewards are computed in
`reward`, and flat groups are dropped in `collect`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

STD_FLOOR = 1e-6  # added to the deviation, as published, so that a flat group gives 0 instead of NaN
BATCH_STD_FLOOR = 1e-5  # AReaL's


def advantages(name: str, rewards: Sequence[float | None]) -> list[float]:
    """Return the advantages of one group by a rule (name), one a reward; masked episodes have the reward None.

    With rewards r, their mean, and n rewards that are not None:

        grpo     (r − mean) / (std + 1e-6), unbiased std (n − 1). DeepSeekMath, arXiv 2402.03300, section 4.1.2. The
                 1e-6 is that of verl and its forks.
        dr_grpo  r − mean. Without the deviation, which favours groups that are nearly solved or unsolved.
                 Dr. GRPO, arXiv 2503.20783, section 3.2.
        rloo     r − mean of the other rewards, which is n / (n − 1) times dr_grpo. arXiv 2402.14740, section 2.3.

    For n = 1, where all other samples are masked, they give 0. verl gives the reward itself, which has no baseline.

    Raises:
        ValueError: A reward is not finite.
    """
    voters = [float(reward) for reward in rewards if reward is not None]
    if not all(map(math.isfinite, voters)):
        raise ValueError(f"advantage: rewards must be finite, not {voters}")
    found = iter(_RULES[name](voters))
    return [0.0 if reward is None else next(found) for reward in rewards]


def batch_normalised(values: Sequence[float], tokens: Sequence[int]) -> list[float]:
    """Return advantages (values, one a response) minus their mean, divided by their deviation + 1e-5, over all tokens.

    The adv_norm of AReaL, on which AstraFlow runs M2PO: mean and population deviation are over tokens, so that long
    responses count more.
    """
    total = sum(tokens)
    if not total:
        return list(values)
    mean = math.fsum(value * count for value, count in zip(values, tokens, strict=True)) / total
    squares = ((value - mean) ** 2 * count for value, count in zip(values, tokens, strict=True))
    std = math.sqrt(math.fsum(squares) / total)
    return [(value - mean) / (std + BATCH_STD_FLOOR) for value in values]


def _grpo(votes: list[float]) -> list[float]:
    deviations = _dr_grpo(votes)
    std = math.sqrt(math.fsum(each * each for each in deviations) / max(len(votes) - 1, 1))
    return [each / (std + STD_FLOOR) for each in deviations]


def _dr_grpo(votes: list[float]) -> list[float]:
    mean = math.fsum(votes) / max(len(votes), 1)
    return [vote - mean for vote in votes]


def _rloo(votes: list[float]) -> list[float]:
    others = len(votes) - 1
    if others < 1:
        return [0.0 for _ in votes]
    total = math.fsum(votes)
    return [vote - (total - vote) / others for vote in votes]


_RULES: Mapping[str, Callable[[list[float]], list[float]]] = {"grpo": _grpo, "dr_grpo": _dr_grpo, "rloo": _rloo}
