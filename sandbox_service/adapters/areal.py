"""AReaL: CodeWorkflow in place of RLVRWorkflow, with its arguments but for `reward_fn`; the address is PROCTOR_URL.

RLVRWorkflow gives a reward function a few processes and 15 s, the wait for a process included, and after four times it
says 0. This one asks in its own event loop, and for as long as it takes. Tests are in the row's `truth` column. An
episode without a verdict is None, which AReaL rejects: it is not trained on, and another takes its place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from areal.workflow.rlvr import RLVRWorkflow  # type: ignore[import-not-found,unused-ignore]

from sandbox_service.adapters.asking import PATIENCE_SECONDS, async_client, submission
from sandbox_service.client import Fault

log = logging.getLogger(__name__)


class CodeWorkflow(RLVRWorkflow):  # type: ignore[misc,unused-ignore]
    """An answer, and its reward. `options` are fields of the submission."""

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
        self._asked = (url, patience_seconds)
        self._truth = truth
        self._options = options or {}

    async def arun_episode(self, engine: Any, data: dict[str, Any]) -> Any:
        """AReaL's tensors of one episode, or None without a verdict."""
        try:
            return await super().arun_episode(engine, data)
        except Fault as fault:
            log.warning("an episode without a verdict is left out: %s", fault)
            return None

    async def _compute_rewards(self, resp: Any, prompt_str: str, task_data: dict[str, Any]) -> float | None:  # noqa: ARG002
        answer = self.tokenizer.decode(resp.output_tokens, skip_special_tokens=True)
        asked = submission(answer, task_data[self._truth], self._options)
        return (await async_client(*self._asked).grade(on_fault="raise", **asked)).reward


def _never(*_: Any, **__: Any) -> float:
    """The reward function that RLVRWorkflow wants."""
    raise NotImplementedError("CodeWorkflow asks the reward service")
