"""Adapter for verifiers: set `task.rewards.proctor.fn = "sandbox_service.adapters.verifiers:reward"` in a task set.

The ground truth is the task data's `tests`, the address is PROCTOR_URL. Without a verdict this raises verifiers' own
SandboxError after some retries, or GraderFaultError if the test is at fault. The trace then has an error and no reward,
and is neither trained on nor counted.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.common import PERMANENT_FAULTS, async_client, grade_with_retries_async, submission
from sandbox_service.client import GraderFaultError


async def reward(task: Any, trace: Any) -> float:
    """Return the reward of the model's last reply.

    Args:
        task: The task, with its `tests`.
        trace: The trace.

    Raises:
        SandboxError: There is no verdict (verifiers' own class).
        GraderFaultError: The tests are at fault.
    """
    try:
        grade = await grade_with_retries_async(async_client(), submission(trace.last_reply, task.tests, {}))
    except GraderFaultError as fault:
        if fault.kind in PERMANENT_FAULTS:
            raise
        from verifiers.v1.errors import SandboxError  # type: ignore[import-not-found,unused-ignore]

        raise SandboxError(str(fault)) from fault
    assert grade.reward is not None  # or GraderFaultError had been raised
    return grade.reward
