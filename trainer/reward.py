"""Grades samples with the reward service and builds groups: penalties, masks and filters.

Failures are handled in three ways. An unavailable service is waited for; requests keep their id, so nothing is graded
twice. A refused request is an error in the configuration or the data and ends the run. A sample without a verdict is
masked; too many of them end the run (`reward_client`). None of these counts as a reward of 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandbox_service.client import Peer, reason_of
from trainer.config import Config, RewardService
from trainer.data import OTHER_TESTS, SENT
from trainer.episode import Completion, Episode, Group, Prompt, Reward
from trainer.reward_client import FaultGauge, RewardClient


class Grader:
    """Grades samples, at most `reward.concurrency` at a time. Use and close it in one event loop.

    `notice` receives a line when the service is unavailable (at most every 5 s) and when it is back. Grading raises
    UnavailableError if it does not answer for `reward.patience_seconds`, TooManyFaultsError if too many samples have no
    verdict, and ConfigError if it refuses a submission.
    """

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._config = config.reward
        self._seed = config.seed
        self._labels = {"client": config.name}  # the service divides its capacity evenly among clients
        peer = Peer(
            config.reward.url,
            config.reward.patience_seconds,
            config.reward.key_variable,
            url_setting="reward.url",
            patience_setting="reward.patience_seconds",
        )
        self._client = RewardClient(peer, notice=notice)
        self._gauge = FaultGauge(config.reward.max_fault_share)
        self._free = asyncio.Semaphore(config.reward.concurrency)

    async def __aenter__(self) -> Grader:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.close()

    async def grade(self, episode_id: str, prompt: Prompt, completion: Completion) -> Reward:
        """Return the reward of a sample with a unique id `GROUP.SAMPLE`.

        If `reward.tests` selects a subset of the tests, the part before the id's last dot determines it, so that all
        samples of a group get the same tests.
        """
        async with self._free:
            began = time.monotonic()
            submission = self._submission(episode_id, prompt, completion)
            grade = await self._client.grade_problem(submission, prompt.grading, prompt.id)
        seconds = time.monotonic() - began
        has_program = grade.verdict != "CE" or bool(grade.tests)  # without one the service runs no test
        reward = Reward(grade.reward, grade.verdict.value, reason_of(grade), seconds, grade.suspect, has_program)
        self._gauge.count(reward.reason if reward.is_fault else None)
        return reward

    async def passes(
        self, episode_id: str, prompt: Prompt, completion: Completion, tests: Sequence[Mapping[str, Any]]
    ) -> list[bool] | None:
        """Return whether a sample with a unique id passes each of these other tests; None without a verdict.

        The tests must not be modified later.
        """
        async with self._free:
            submission = self._submission(episode_id, prompt, completion)
            submission |= {**OTHER_TESTS, "sample": None, "reward": {"scheme": "all_or_nothing"}}
            grade = await self._client.grade_problem(submission, {"tests": tests}, prompt.id)
        self._gauge.count(reason_of(grade) if grade.reward is None else None)
        if grade.reward is None:
            return None
        passed = {each.index for each in grade.tests if each.verdict == "AC"}
        return [number in passed for number in range(len(tests))]

    def _submission(self, episode_id: str, prompt: Prompt, completion: Completion) -> dict[str, Any]:
        """Return the submission's fields except the tests."""
        config, grading = self._config, prompt.grading
        submission: dict[str, Any] = {
            "id": episode_id,
            "completion": completion.text,
            "extraction": config.extraction,
            "reward": dict(config.scheme),
            "stop_on_failure": config.scheme.get("scheme") not in ("fraction", "weighted"),
            "labels": self._labels,
        }
        submission |= {name: grading[name] for name in SENT if name in grading}
        if limits := {**grading.get("limits", {}), **config.limits}:
            submission["limits"] = limits
        if config.tests:
            seed = {"seed": _seed(self._seed, prompt, episode_id)} if config.tests_rule == "random" else {}
            submission["sample"] = {"count": config.tests, "rule": config.tests_rule} | seed
        return submission


def overlong(tokens: int, room: int, settings: RewardService) -> float:
    """Return DAPO's soft overlong punishment (arXiv 2503.14476, equation 13) of a response of so many tokens.

    It is 0 up to room - overlong_buffer tokens, and then falls linearly to -overlong_factor at room tokens, the most.
    """
    if not settings.overlong_buffer:
        return 0.0
    excess = min(max(tokens - (room - settings.overlong_buffer), 0), settings.overlong_buffer)
    return -settings.overlong_factor * excess / settings.overlong_buffer if excess else 0.0


def build_group(episodes: Sequence[Episode], config: Config) -> Group:
    """Return the group of these episodes, with the penalties, masks and filters of the step that started it."""
    return Group(episodes[0].prompt, [_apply_filters(episode, config) for episode in episodes])


def _apply_filters(episode: Episode, config: Config) -> Episode:
    """Return an episode masked, silenced or penalised.

    The filter "silence" is DeepCoder's: truncated and wrong responses get advantage 0 but count in the group's mean.
    """
    if episode.reward.value is None:
        return replace(episode, is_masked=True)
    service, cut = config.reward, episode.completion.is_truncated
    return replace(
        episode,
        penalty=overlong(len(episode.completion.ids), config.room(len(episode.prompt.ids)), service),
        is_masked=cut and service.overlong_filter == "mask",
        is_silenced=cut and service.overlong_filter == "silence" and episode.reward.value <= 0,
    )


def _seed(seed: int, prompt: Prompt, episode_id: str) -> int:
    """Return the seed of a group's test subset, independent of the run's random name."""
    group = episode_id.rpartition(".")[0].rpartition(".")[2]
    digest = hashlib.blake2b(f"{seed}/{prompt.id}/{group}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
