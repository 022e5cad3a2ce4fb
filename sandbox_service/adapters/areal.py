"""Adapter for AReaL: CodeWorkflow in place of RLVRWorkflow, with the same arguments except `reward_fn`; the address is
PROCTOR_URL.

RLVRWorkflow gives a reward function a few processes and 15 s, waiting included, and returns 0 after four failures. This
workflow awaits the reward in its own event loop without such a limit. Tests are in the row's `truth` column. An episode
without a verdict is None, which AReaL rejects: it is not trained on, and another episode takes its place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from areal.workflow.rlvr import RLVRWorkflow  # type: ignore[import-not-found,unused-ignore]

from sandbox_service.adapters.common import PATIENCE_SECONDS, async_client, submission
from sandbox_service.client import GraderFaultError

log = logging.getLogger(__name__)


class CodeWorkflow(RLVRWorkflow):  # type: ignore[misc,unused-ignore]
    """A workflow of one answer and its reward.

    Args:
        *arguments: RLVRWorkflow's arguments after `reward_fn`.
        url: The service's address; default: PROCTOR_URL.
        truth: The row's column with the ground truth.
        patience_seconds: Time to wait for an unavailable service.
        options: Further fields of the submissions.
        **more: RLVRWorkflow's keyword arguments.
    """

    def __init__(
        self,
        *arguments: Any,
        url: str | None = None,
        truth: str = "tests",
        patience_seconds: float = PATIENCE_SECONDS,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(_never, *arguments, **more)
        self._service = (url, patience_seconds)
        self._truth = truth
        self._options = options or {}

    async def arun_episode(self, engine: Any, data: dict[str, Any]) -> Any:
        """Implements AReaL's method: returns the tensors of one episode, or None without a verdict."""
        try:
            return await super().arun_episode(engine, data)
        except GraderFaultError as fault:
            log.warning("episode without a verdict is left out: %s", fault)
            return None

    async def _compute_rewards(self, resp: Any, prompt_str: str, task_data: dict[str, Any]) -> float | None:  # noqa: ARG002
        answer = self.tokenizer.decode(resp.output_tokens, skip_special_tokens=True)
        fields = submission(answer, task_data[self._truth], self._options)
        return (await async_client(*self._service).grade(on_fault="raise", **fields)).reward


def _never(*_: Any, **__: Any) -> float:
    """Stand in for the reward function that RLVRWorkflow requires."""
    raise NotImplementedError("CodeWorkflow calls the reward service instead")
