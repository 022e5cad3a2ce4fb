"""SkyRL: `register(id="proctor", entry_point="sandbox_service.adapters.skyrl:CodeEnv")`, and `env_class: "proctor"`.

The address and fields of the submission may be given with `register(…, kwargs={"url": …, "limits": …})`. Tests are
where SkyRL's own environments for programs have them, in `reward_spec.ground_truth`. SkyRL has no word for a sample
without a verdict, so that Fault is raised, after some tries, and with it the generation of the batch ends.

skyrl-agent asks for runs of programs instead (`CODER1_EXEC=sandboxfusion`), and needs `/run_code` and no adapter.
"""

from __future__ import annotations

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv  # type: ignore[import-not-found,unused-ignore]

from sandbox_service.adapters.asking import client, insist, submission
from sandbox_service.schema import Verdict


class CodeEnv(BaseTextEnv):  # type: ignore[misc,unused-ignore]
    """Grades one answer, and the episode is over. `options` are fields of the submission."""

    def __init__(self, env_config: Any = None, extras: Any = None, *, url: str | None = None, **options: Any) -> None:  # noqa: ARG002
        super().__init__()
        self._url = url
        self._options = options
        self._truth = extras["reward_spec"]["ground_truth"]

    def step(self, action: str) -> dict[str, Any]:
        """SkyRL's BaseTextEnvStepOutput. Raises Fault if there is no verdict."""
        grade = insist(client(self._url), submission(action, self._truth, self._options))
        said = {"verdict": str(grade.verdict), "accepted": grade.verdict == Verdict.AC, "message": grade.message}
        return {"observations": [], "reward": grade.reward, "done": True, "metadata": said}
