"""Adapter for OpenRLHF: give this file as `--reward.remote_url`, and the address as PROCTOR_URL.

The route `/get_reward` does the same without a file. This function also waits for an unavailable service, while
OpenRLHF itself retries five times within five seconds. A label is the ground truth.

OpenRLHF cannot mask a sample without a verdict. With PROCTOR_WITHOUT_VERDICT=nan its reward is NaN, for which
`--algo.dynamic_filtering_enable` drops the group and takes another prompt. Without that flag NaN would corrupt the
advantages of the whole batch; so by default GraderFaultError is raised after some retries, and the run ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from sandbox_service.adapters.common import client, grade_with_retries, submission
from sandbox_service.client import GraderFaultError
from sandbox_service.formats import chat
from sandbox_service.schema import Grade, Verdict

VARIABLE = "PROCTOR_WITHOUT_VERDICT"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """Return rewards, and the same clamped to [0, 1] as scores, as lists of numbers like the route.

    Args:
        queries: Prompts with answers, special tokens kept.
        prompts: The prompts.
        labels: The ground truths.

    Raises:
        GraderFaultError: There is no verdict.
    """
    samples = zip(queries, prompts, labels, strict=True)
    grades = [_grade(chat.response(query, prompt), label) for query, prompt, label in samples]
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
    """Return the grade; None without a verdict if PROCTOR_WITHOUT_VERDICT is nan."""
    try:
        return grade_with_retries(client(), submission(answer, label, {}))
    except GraderFaultError:
        if os.environ.get(VARIABLE) != "nan":
            raise
        return None
