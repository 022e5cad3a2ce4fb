"""Adapter for SkyRL: an environment that grades programs.

Register it by `register(id="proctor", entry_point="sandbox_service.adapters.skyrl:CodeEnv")`, and set `env_class:
"proctor"`. `register(…, kwargs={"url": …, "limits": …})` may give the address and further fields of the submission. The
tests are in `reward_spec.ground_truth`, as in SkyRL's own environments for programs. SkyRL cannot mask a sample without
a verdict, so GraderFaultError is raised after some retries, which ends the generation of the batch.

skyrl-agent runs programs instead (`CODER1_EXEC=sandboxfusion`); it uses `/run_code` and needs no adapter.
"""

from __future__ import annotations

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv  # type: ignore[import-not-found,unused-ignore]

from sandbox_service.adapters.common import client, grade_with_retries, submission
from sandbox_service.schema import Verdict


class CodeEnv(BaseTextEnv):  # type: ignore[misc,unused-ignore]
    """An environment that grades one answer and ends the episode. `options` are further fields of the submission."""

    def __init__(self, env_config: Any = None, extras: Any = None, *, url: str | None = None, **options: Any) -> None:  # noqa: ARG002
        super().__init__()
        self._url = url
        self._options = options
        self._truth = extras["reward_spec"]["ground_truth"]

    def step(self, action: str) -> dict[str, Any]:
        """Return SkyRL's BaseTextEnvStepOutput.

        Args:
            action: The model's answer.

        Raises:
            GraderFaultError: There is no verdict.
        """
        grade = grade_with_retries(client(self._url), submission(action, self._truth, self._options))
        metadata = {"verdict": str(grade.verdict), "accepted": grade.verdict == Verdict.AC, "message": grade.message}
        return {"observations": [], "reward": grade.reward, "done": True, "metadata": metadata}
