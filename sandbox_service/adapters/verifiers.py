"""verifiers: in a task set's configuration, `task.rewards.proctor.fn = "sandbox_service.adapters.verifiers:reward"`.

The tests are the task data's `tests`, the address is PROCTOR_URL. Without a verdict verifiers' own SandboxError is
raised, after some tries, or Fault if the test is at fault: the trace then has an error and no reward, and is neither
trained on nor counted.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.asking import HOPELESS, async_client, insist_async, submission
from sandbox_service.client import Fault


async def reward(task: Any, trace: Any) -> float:
    """The reward of what the model said last. Raises SandboxError or Fault if there is no verdict."""
    try:
        grade = await insist_async(async_client(), submission(trace.last_reply, task.tests, {}))
    except Fault as fault:
        if fault.kind in HOPELESS:
            raise
        from verifiers.v1.errors import SandboxError  # type: ignore[import-not-found,unused-ignore]

        raise SandboxError(str(fault)) from fault
    assert grade.reward is not None  # or Fault had been raised
    return grade.reward
