"""Group-relative advantages: one number an episode, used for all of its tokens.

Masked episodes (reward None) are excluded from mean and deviation and get advantage 0.
"""

import math
from collections.abc import Sequence

STD_FLOOR = 1e-6  # added to the deviation, as published, so that a flat group gives 0 instead of NaN
BATCH_STD_FLOOR = 1e-5  # AReaL's


def advantages(name: str, rewards: Sequence[float | None]) -> list[float]:
    """Return the advantages of one group by a rule (name), one a reward; masked episodes have the reward None.

    With rewards r, their mean, and n rewards that are not None:

        grpo     (r − mean) / (std + 1e-6), unbiased std (n − 1). DeepSeekMath, arXiv 2402.03300, 4.1.2; 1e-6 is verl's
        dr_grpo  r − mean. Dr. GRPO, arXiv 2503.20783, section 3.2
        rloo     r − mean of the other rewards, which is n / (n − 1) times dr_grpo. arXiv 2402.14740, section 2.3

    For n = 1, where all other samples are masked, they give 0. verl gives the reward itself, which has no baseline.

    Raises:
        ValueError: A reward is not finite.
    """
    voters = [float(reward) for reward in rewards if reward is not None]
    if not all(map(math.isfinite, voters)):
        raise ValueError(f"advantage: rewards must be finite, not {voters}")
    count, others = max(len(voters), 1), max(len(voters) - 1, 1)
    mean = math.fsum(voters) / count
    std = math.sqrt(math.fsum((each - mean) ** 2 for each in voters) / others)
    divisor = {"grpo": std + STD_FLOOR, "dr_grpo": 1.0, "rloo": others / count}[name]
    return [0.0 if reward is None else (reward - mean) / divisor for reward in rewards]


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
