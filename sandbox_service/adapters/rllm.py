"""Adapter for rLLM: set `reward_fn=code_reward` of a workflow, an environment or an agent; the address is PROCTOR_URL.

rLLM cannot mask a sample without a verdict, so GraderFaultError is raised after some retries. The workflow engine then
runs the episode again, and finally marks it as failed.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.common import client, grade_with_retries, submission
from sandbox_service.schema import Verdict


def code_reward(task_info: dict[str, Any], action: Any) -> Any:
    """Return rLLM's RewardOutput.

    Args:
        task_info: The task; its `ground_truth` contains the tests.
        action: The model's answer.

    Raises:
        GraderFaultError: There is no verdict.
    """
    from rllm.rewards.reward_types import RewardOutput  # type: ignore[import-not-found,unused-ignore]

    answer = getattr(action, "action", action)
    grade = grade_with_retries(client(), submission(answer, task_info["ground_truth"], {}))
    metadata = {"verdict": str(grade.verdict), "passed": grade.passed, "total": grade.total, "message": grade.message}
    return RewardOutput(reward=grade.reward, metadata=metadata, is_correct=grade.verdict == Verdict.AC)
