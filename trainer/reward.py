"""Grades samples with the reward service and builds groups: penalties, masks and filters.

Failures are handled in three ways. An unavailable service is waited for by `sandbox_service.client`; requests keep
their id, so nothing is graded twice. A refused request is an error in the configuration or the data and ends the run. A
sample without a verdict is masked; too many of them end the run. None of these counts as a reward of 0.
"""

import asyncio
import hashlib
import math
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sandbox_service.client import AsyncClient, Grade, Peer, Suite, errors, reason_of
from trainer.config import Config
from trainer.config.sections import RewardService
from trainer.data import OTHER_TESTS, SENT
from trainer.episode import Completion, Episode, Group, Prompt, Reward
from trainer.errors import ConfigError, TooManyFaultsError, UnavailableError

SUITE_CACHE_SIZE = 256  # suites of problems in use; the oldest is dropped first
WINDOW = 1000  # samples
EVIDENCE = 200  # samples that a share is computed of at least
NO_PROGRAM = Completion((), (), "no program", False, 0, 0)
DEVIATIONS = 3.0  # standard deviations


@contextmanager
def trainer_errors() -> Iterator[None]:
    """Translate the client's exceptions: UnavailableError after its patience, ConfigError for what is refused."""
    try:
        yield
    except errors.ServiceUnavailableError as unavailable:
        raise UnavailableError(str(unavailable)) from None
    except (errors.RefusedError, errors.NotProctorError) as refused:
        raise ConfigError(str(refused)) from None


class RewardClient(AsyncClient):
    """An `AsyncClient` with the trainer's exceptions, which hashes a problem's suite once for all its samples."""

    def __init__(self, peer: Peer, *, notice: Callable[[str], None] = print) -> None:
        with trainer_errors():
            super().__init__(peer, notice=notice)
        self._suites_by_tests: OrderedDict[int, tuple[object, Suite]] = OrderedDict()

    async def grade_problem(self, submission: Mapping[str, Any], grading: Mapping[str, Any], problem: str) -> Grade:
        """Return the grade of a submission, its fields except the tests, to a problem; see `trainer_errors`.

        Of the grading fields "suite" or "tests" is read. The tests must not be modified later.
        """
        suite = grading.get("suite") or self._suite_of(grading["tests"])
        with trainer_errors():
            return await self.grade(name=f"problem {problem!r}", **submission, suite=suite)

    def _suite_of(self, tests: Sequence[Any]) -> Suite:
        """Return the suite of these tests, cached by identity."""
        if id(tests) not in self._suites_by_tests:  # an entry refers to the tests, so that no others get their id
            self._suites_by_tests[id(tests)] = (tests, Suite.of(tests))
            if len(self._suites_by_tests) > SUITE_CACHE_SIZE:
                self._suites_by_tests.popitem(last=False)
        return self._suites_by_tests[id(tests)][1]


class FaultGauge:
    """Counts samples without a verdict over a sliding window.

    Of the last n samples (at most 1000; at least 200 are assumed) f have no verdict. With the allowed share s, the run
    ends when f > n·s + 3·√(n·s·(1 - s)), three standard deviations of the binomial distribution above its mean.
    """

    def __init__(self, share: float, setting: str = "reward.max_fault_share") -> None:
        self._share = share
        self._setting = setting
        self._last: deque[str | None] = deque(maxlen=WINDOW)  # reasons of faults; None for a verdict

    def count(self, fault: str | None) -> None:
        """Count a sample by its fault: why it has no verdict, None if it has one. Raise TooManyFaultsError."""
        self._last.append(fault)
        if fault is None:
            return
        reasons = Counter(reason for reason in self._last if reason is not None)
        faults, graded = reasons.total(), len(self._last)
        expected = max(graded, EVIDENCE) * self._share
        if faults > expected + DEVIATIONS * math.sqrt(expected * (1 - self._share)):
            often = "".join(f"\n  {count} × {reason}" for reason, count in reasons.most_common(3))
            raise TooManyFaultsError(
                f"the reward service returned no verdict for {faults} of the last {graded} samples "
                f"({faults / graded:.1%}; {self._setting} is {self._share:.1%}): see its log. Most frequent reasons:"
                + often
            )


class Grader:
    """Grades samples, at most `reward.concurrency` at a time. Use and close it in one event loop.

    `notice` receives a line when the service is unavailable, and when it is back. Grading raises the exceptions of
    `trainer_errors` and `FaultGauge`.
    """

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._config = service = config.reward
        self._seed = config.seed
        self._labels = {"client": config.name}  # the service divides its capacity evenly among clients
        own = Peer(service.url, service.patience_seconds, service.key_variable)
        peer = replace(own, url_setting="reward.url", patience_setting="reward.patience_seconds")  # in messages
        self._client = RewardClient(peer, notice=notice)
        self._gauge = FaultGauge(service.max_fault_share)
        self._free = asyncio.Semaphore(service.concurrency)

    async def close(self) -> None:
        await self._client.close()

    async def grade(
        self, episode_id: str, prompt: Prompt, completion: Completion, *, all_tests: bool = False
    ) -> Reward:
        """Return the reward of a sample with a unique id `GROUP.SAMPLE`.

        Unless `all_tests` is set, `reward.tests` may select a subset of the tests. The part before the id's last dot
        determines it, so that all samples of a group get the same tests.
        """
        async with self._free:
            began = time.monotonic()
            submission = self._submission(episode_id, prompt, completion)
            if all_tests:
                submission.pop("sample", None)
            grade = await self._client.grade_problem(submission, prompt.grading, prompt.id)
        seconds = time.monotonic() - began
        has_program = grade.verdict != "CE" or bool(grade.tests)  # without one the service runs no test
        reward = Reward(grade.reward, grade.verdict.value, reason_of(grade), seconds, grade.suspect, has_program)
        self._gauge.count(reward.reason if reward.is_fault else None)
        return reward

    async def passes(
        self, episode_id: str, prompt: Prompt, completion: Completion, tests: Sequence[Mapping[str, Any]]
    ) -> list[bool] | None:
        """Return whether a sample with a unique id passes each of these other tests; None without a verdict."""
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
            submission["sample"] = {"count": config.tests, "rule": config.tests_rule}
            if config.tests_rule == "random":  # equal within a group, and independent of the run's random name
                group = episode_id.rpartition(".")[0].rpartition(".")[2]
                digest = hashlib.blake2b(f"{self._seed}/{prompt.id}/{group}".encode(), digest_size=4).digest()
                submission["sample"]["seed"] = int.from_bytes(digest, "big") >> 1
        return submission


async def check_service(config: Config, prompt: Prompt, notice: Callable[[str], None]) -> None:
    """Grade a response without a program to a prompt, to find early what the service refuses.

    A service that is unavailable is waited for, with a notice.
    """
    grader = Grader(config, notice)
    try:
        await grader.grade(f"{config.name}.{secrets.token_hex(4)}.check.0", prompt, NO_PROGRAM)
    finally:
        await grader.close()


def overlong(tokens: int, room: int, settings: RewardService) -> float:
    """Return DAPO's soft overlong punishment (arXiv 2503.14476, equation 13) of a response of so many tokens.

    It is 0 up to room - overlong_buffer tokens, and then falls linearly to -overlong_factor at room tokens, the most.
    """
    buffer = settings.overlong_buffer  # 0: there is no punishment
    excess = min(max(tokens - (room - buffer), 0), buffer)
    return -settings.overlong_factor * excess / buffer if excess else 0.0


def build_group(episodes: Sequence[Episode], config: Config) -> Group:
    """Return the group of these episodes, with the penalties, masks and filters of the step that started it.

    The filter "silence" is DeepCoder's: truncated and wrong responses get advantage 0 but count in the group's mean.
    """
    return Group(episodes[0].prompt, [_filtered(episode, config) for episode in episodes])


def _filtered(episode: Episode, config: Config) -> Episode:
    if episode.reward.value is None:
        return replace(episode, is_masked=True)
    service, cut = config.reward, episode.completion.is_truncated
    return replace(
        episode,
        penalty=overlong(len(episode.completion.ids), config.room(len(episode.prompt.ids)), service),
        is_masked=cut and service.overlong_filter == "mask",
        is_silenced=cut and service.overlong_filter == "silence" and episode.reward.value <= 0,
    )
