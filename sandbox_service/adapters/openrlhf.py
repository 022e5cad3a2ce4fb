"""OpenRLHF: this file as `--reward.remote_url`, and the address as PROCTOR_URL.

The route `/get_reward` does the same without a file; this one waits for a service that is away, where OpenRLHF itself
asks five times in as many seconds. A label is the ground truth.

OpenRLHF has no word for a sample without a verdict. With PROCTOR_WITHOUT_VERDICT=nan it is NaN, which
`--algo.dynamic_filtering_enable` understands well, by luck: it drops the group and takes another prompt. Without that
flag NaN would be the advantage of a whole batch; so otherwise Fault is raised, after some tries, and the run ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from sandbox_service import chat
from sandbox_service.adapters.asking import client, insist, submission
from sandbox_service.client import Fault
from sandbox_service.schema import Grade, Verdict

VARIABLE = "PROCTOR_WITHOUT_VERDICT"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """Rewards, and as scores the same between 0 and 1. `queries` are prompts with answers, special tokens kept.

    Lists of numbers, as the route has them: OpenRLHF makes its tensors itself. Raises Fault if there is no verdict.
    """
    asked = zip(queries, prompts, labels, strict=True)
    grades = [_grade(chat.response(query, prompt), label) for query, prompt, label in asked]
    rewards = [math.nan if grade is None or grade.reward is None else grade.reward for grade in grades]
    return {
        "rewards": rewards,
        "scores": [min(max(reward, 0.0), 1.0) for reward in rewards],
        "extra_logs": {
            "accepted": [float(grade is not None and grade.verdict == Verdict.AC) for grade in grades],
            "faults": [float(grade is None) for grade in grades],
        },
    }


def _grade(answer: str, label: Any) -> Grade | None:
    """None for what has no verdict, if that is wanted."""
    try:
        return insist(client(), submission(answer, label, {}))
    except Fault:
        if os.environ.get(VARIABLE) != "nan":
            raise
        return None
