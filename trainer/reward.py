"""What a sample is worth to the trainer: the reward service's word, and what the run's configuration makes of it.

Three kinds of trouble are told apart. A service that is away is waited for (`grades`), with the same id on every try,
so that nothing is graded twice. A request that it refuses is a mistake in the configuration or the data, and ends the
run at once. An answer without a verdict masks its sample; too many of them end the run (`faults`). None of them is
ever a reward of 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from trainer.config import Config
from trainer.episode import Completion, Episode, Group, Prompt, Reward
from trainer.faults import FaultGauge
from trainer.grades import Grades, reason_of
from trainer.service import Peer


class Grader:
    """Asks for rewards, up to `reward.concurrency` at a time. To be used and closed in one event loop.

    `notice` is told, at most every 5 s, that the service is away, and when it is back.
    """

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._config = config.reward
        self._seed = config.seed
        self._labels = {"client": config.name}  # whose turn it is: runs that share a service share it evenly
        peer = Peer(
            config.reward.url,
            config.reward.patience_seconds,
            config.reward.key_variable,
            url_setting="reward.url",
            patience_setting="reward.patience_seconds",
        )
        self._grades = Grades(peer, notice)
        self._gauge = FaultGauge(config.reward.max_fault_share)
        self._free = asyncio.Semaphore(config.reward.concurrency)

    async def __aenter__(self) -> Grader:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def away_seconds(self) -> float:
        """How long the service has been away, in all."""
        return self._grades.away_seconds

    async def close(self) -> None:
        """Let go of the connections."""
        await self._grades.close()

    async def grade(self, episode_id: str, prompt: Prompt, completion: Completion) -> Reward:
        """The reward of a sample. Raises Away, TooManyFaults, and ConfigError for what the service refuses.

        `episode_id` differs for every sample ever taken, and is `GROUP.SAMPLE`: what is before the last dot decides
        which of the tests are used, if not all are, so that a group's samples are all put to the same.
        """
        async with self._free:
            began = time.monotonic()
            grade = await self._grades.of(self._submission(episode_id, prompt, completion), prompt.grading, prompt.id)
        reward = Reward(grade.reward, grade.verdict.value, reason_of(grade), time.monotonic() - began)
        self._gauge.count(reward.reason if reward.is_fault else None)
        return reward

    def _submission(self, episode_id: str, prompt: Prompt, completion: Completion) -> dict[str, Any]:
        """All but the tests."""
        config, grading = self._config, prompt.grading
        submission: dict[str, Any] = {
            "id": episode_id,
            "completion": completion.text,
            "extraction": config.extraction,
            "reward": dict(config.scheme),
            "stop_on_failure": config.scheme.get("scheme") not in ("fraction", "weighted"),
            "labels": self._labels,
        }
        submission |= {name: grading[name] for name in ("checker", "language") if name in grading}
        if limits := {**grading.get("limits", {}), **config.limits}:
            submission["limits"] = limits
        if config.tests:
            submission["sample"] = {"count": config.tests, "seed": _seed(self._seed, prompt, episode_id)}
        return submission


def overlong(tokens: int, room: int, buffer: int, factor: float) -> float:
    """DAPO's soft overlong punishment (arXiv 2503.14476, equation 13), at most 0.

    `tokens` of a response that may have `room`. Nothing up to room - buffer; from there it grows evenly, to -factor
    where the room is full. Without a buffer there is none.
    """
    if not buffer:
        return 0.0
    excess = min(max(tokens - (room - buffer), 0), buffer)
    return -factor * excess / buffer if excess else 0.0


def settle(episodes: Sequence[Episode], config: Config) -> Group:
    """A group, with penalties for length, and with what has no verdict, or is cut and not wanted, put aside."""
    return Group(episodes[0].prompt, [_settled(episode, config) for episode in episodes])


def _settled(episode: Episode, config: Config) -> Episode:
    """The filter "silence" is DeepCoder's: what is cut *and* wrong has an advantage of 0, yet votes and counts."""
    if episode.reward.value is None:
        return replace(episode, is_masked=True)
    service, cut = config.reward, episode.completion.is_truncated
    return replace(
        episode,
        penalty=overlong(
            len(episode.completion.ids), _room(episode, config), service.overlong_buffer, service.overlong_factor
        ),
        is_masked=cut and service.overlong_filter == "mask",
        is_silenced=cut and service.overlong_filter == "silence" and episode.reward.value <= 0,
    )


def _room(episode: Episode, config: Config) -> int:
    """How many tokens the response could have had."""
    rollout = config.rollout
    if not rollout.max_model_len:
        return rollout.max_tokens
    return min(rollout.max_tokens, rollout.max_model_len - len(episode.prompt.ids))


def _seed(seed: int, prompt: Prompt, episode_id: str) -> int:
    """Of a group: not of the run's own name, which differs from start to start."""
    group = episode_id.rpartition(".")[0].rpartition(".")[2]
    digest = hashlib.blake2b(f"{seed}/{prompt.id}/{group}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
