"""By how much an episode is better than its group: one number for each, the same for all of its tokens.

Who is masked (None) does not vote in the mean or the deviation, and gets 0. What a reward is made of, and which groups
are worth training on, is decided before: `reward.py` and `buffer.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

STD_FLOOR = 1e-6  # added to the deviation, as published: a group without any difference then gives 0, not nan


def advantages(name: str, rewards: Sequence[float | None]) -> list[float]:
    """The advantages of one group, in the order of its rewards; computed in double precision.

    grpo     (r − mean) / (std + 1e-6), the deviation unbiased (n − 1). DeepSeekMath, arXiv 2402.03300, section 4.1.2;
             the 1e-6 and what a lone voter gets (mean 0, deviation 1: so its own reward) are verl's and its forks'.
    dr_grpo  r − mean: no deviation, which favours groups that are nearly settled. arXiv 2503.20783, section 3.2.
    rloo     r − mean of the others. arXiv 2402.14740, section 2.3: n / (n − 1) times dr_grpo's.

    A lone voter has nobody to be compared with: 0 by dr_grpo and rloo. (verl gives it its reward there too.)
    Raises ValueError for a name that is not known and for a reward that is not finite.
    """
    if name not in _RULES:
        raise ValueError(f"advantage: {name!r} is none of {', '.join(_RULES)}")
    voters = [float(reward) for reward in rewards if reward is not None]
    if not all(map(math.isfinite, voters)):
        raise ValueError(f"advantage: rewards must be finite, not {voters}")
    found = iter(_RULES[name](voters))
    return [0.0 if reward is None else next(found) for reward in rewards]


def _grpo(votes: list[float]) -> list[float]:
    if len(votes) == 1:
        return [votes[0] / (1.0 + STD_FLOOR)]
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
