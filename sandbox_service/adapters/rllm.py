"""rLLM: `reward_fn=code_reward` of a workflow, an environment or an agent, and the address as PROCTOR_URL.

rLLM has no word for a sample without a verdict, so that Fault is raised, after some tries; its workflow engine then
runs the episode again, and marks it as failed at last.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.asking import client, insist, submission
from sandbox_service.schema import Verdict


def code_reward(task_info: dict[str, Any], action: Any) -> Any:
    """A RewardOutput of rLLM's. The tests are the task's `ground_truth`. Raises Fault if there is no verdict."""
    from rllm.rewards.reward_types import RewardOutput  # type: ignore[import-not-found,unused-ignore]

    answer = getattr(action, "action", action)
    grade = insist(client(), submission(answer, task_info["ground_truth"], {}))
    metadata = {"verdict": str(grade.verdict), "passed": grade.passed, "total": grade.total, "message": grade.message}
    return RewardOutput(reward=grade.reward, metadata=metadata, is_correct=grade.verdict == Verdict.AC)
