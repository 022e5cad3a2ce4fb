"""What a sample is worth: the reward service is asked, over HTTP, and its word is taken. Only this module knows it.

Three kinds of trouble are told apart. A service that is away is waited for, with the same id on every try, so that
nothing is graded twice. A request that it refuses is a mistake in the configuration or the data, and ends the run at
once. An answer without a verdict masks its sample; too many of them end the run. None of them is ever a reward of 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import random
import socket
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from trainer.config import Config, RewardService
from trainer.episode import Completion, Episode, Group, Prompt, Reward
from trainer.errors import Away, ConfigError, TooManyFaults

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 8.0
LONGEST_TOLD_PAUSE_SECONDS = 60.0
CONNECT_SECONDS = 10.0
NOTICE_SECONDS = 5.0
QUIET_SECONDS = 30.0  # without an answer to anything, before that is said
AWAY = {408, 429, 502, 503, 504}
TRIES = 5  # at what the service lost or failed at, before the sample counts as a fault
SUITES_REMEMBERED = 256  # names of tests that are in use; more are only worked out again
GAUGE_WINDOW = 1000
GAUGE_EVIDENCE = 200
GAUGE_DEVIATIONS = 3.0


class Grader:
    """Asks for rewards, up to `reward.concurrency` at a time. To be used and closed in one event loop.

    `notice` is told, at most every 5 s, that the service is away, and when it is back.
    """

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._config = config.reward
        self._seed = config.seed
        self._labels = {"client": config.name}  # whose turn it is: runs that share a service share it evenly
        self._service = _Service(config.reward, notice)
        self._gauge = FaultGauge(config.reward.max_fault_share)
        self._suites = _Suites()
        self._free = asyncio.Semaphore(config.reward.concurrency)

    async def __aenter__(self) -> Grader:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def away_seconds(self) -> float:
        """How long the service has been away, in all."""
        return self._service.outage.seconds

    async def close(self) -> None:
        """Let go of the connections."""
        await self._service.close()

    async def grade(self, episode_id: str, prompt: Prompt, completion: Completion) -> Reward:
        """The reward of a sample. Raises Away, TooManyFaults, and ConfigError for what the service refuses.

        `episode_id` differs for every sample ever taken, and is `GROUP.SAMPLE`: what is before the last dot decides
        which of the tests are used, if not all are, so that a group's samples are all put to the same.
        """
        async with self._free:
            began = time.monotonic()
            answer = await self._answer(self._submission(episode_id, prompt, completion), prompt)
        reward = _reward_of(answer, time.monotonic() - began)
        self._gauge.count(reward)
        return reward

    def _submission(self, episode_id: str, prompt: Prompt, completion: Completion) -> dict[str, Any]:
        config, grading = self._config, prompt.grading
        submission: dict[str, Any] = {
            "id": episode_id,
            "completion": completion.text.encode("utf-8", "replace").decode(),  # half a surrogate pair is no JSON text
            "extraction": config.extraction,
            "suite": grading.get("suite") or self._suites.of(grading["tests"]).id,
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

    async def _answer(self, submission: Mapping[str, Any], prompt: Prompt) -> Mapping[str, Any]:
        """A grade. What the service has lost is sent again; what it fails at again and again is a fault."""
        reason, what = "", f"problem {prompt.id!r}"
        for pause in _pauses(TRIES):
            puts = self._suites.puts(submission["suite"])
            status, answer = await self._service.ask("POST", "/v1/grade", _json(submission))
            if status == 200 and answer.get("failure_kind") not in ("suite_lost", "forgotten"):
                return answer
            if status not in (200, 500) and not _is_unknown_suite(status, answer):
                raise self._service.refusal(status, answer, what)
            reason = _reason(answer) if status == 200 else _said(status, answer)
            if status == 500 or answer.get("failure_kind") == "forgotten":
                await asyncio.sleep(pause)
            else:
                await self._put(prompt, puts)
        return {"verdict": "IE", "reward": None, "failure_kind": "given_up", "failure_reason": reason}

    async def _put(self, prompt: Prompt, puts: int) -> None:
        """Store a problem's tests, if nobody else has since there had been so many puts of them."""
        if "tests" not in prompt.grading:
            raise ConfigError(
                f"problem {prompt.id!r}: the reward service at {self._config.url} does not know its suite "
                f"{prompt.grading['suite']}: put it there, or give the tests themselves"
            )
        suite = self._suites.of(prompt.grading["tests"])
        async with self._suites.lock(suite.id):
            if self._suites.puts(suite.id) > puts:
                return
            status, answer = await self._service.ask("PUT", f"/v1/suites/{suite.id}", suite.body)
            if status not in (200, 201):
                raise self._service.refusal(status, answer, f"the tests of problem {prompt.id!r}")
            self._suites.count_put(suite.id)


class FaultGauge:
    """Ends a run whose samples have no verdict too often.

    Of the last 1000 samples, or as many as there were, f had none. With n of them, taken for 200 if there are fewer,
    and the share s that is allowed, the run ends when f > n·s + 3·√(n·s·(1 - s)): three standard deviations above what
    such a share gives by chance. With s = 1 %, that is 7 of the first 200 or 20 of 1000; so 2 % ends a run within its
    first 1000 samples, more does sooner, and ½ % does not. With s = 0 the first one does.
    """

    def __init__(self, share: float, window: int = GAUGE_WINDOW, evidence: int = GAUGE_EVIDENCE) -> None:
        self._share = share
        self._evidence = evidence
        self._last: deque[str | None] = deque(maxlen=window)  # reasons of faults; None: there was a verdict

    def count(self, reward: Reward) -> None:
        """Take in one more. Raises TooManyFaults."""
        self._last.append(reward.reason if reward.is_fault else None)
        reasons = Counter(reason for reason in self._last if reason is not None) if reward.is_fault else Counter()
        if reasons.total() > self._bound():
            raise TooManyFaults(self._message(reasons))

    def _bound(self) -> float:
        expected = max(len(self._last), self._evidence) * self._share
        return expected + GAUGE_DEVIATIONS * math.sqrt(expected * (1 - self._share))

    def _message(self, reasons: Counter[str]) -> str:
        faults, graded = reasons.total(), len(self._last)
        often = [f"{count} × {reason}" for reason, count in reasons.most_common(3)]
        return "\n  ".join(
            [
                f"the reward service could not tell what {faults} of the last {graded} samples are worth "
                f"({faults / graded:.1%}; reward.max_fault_share is {self._share:.1%}): its log says more. Most often:",
                *often,
            ]
        )


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


@dataclass(frozen=True)
class _Suite:
    """Tests as the service stores them: its name for them is the hash of their bytes."""

    id: str
    body: bytes


class _Suites:
    """Which tests have which name, and how often each was put."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[object, _Suite]] = OrderedDict()
        self._puts: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}

    def of(self, tests: Sequence[Any]) -> _Suite:
        """The suite of these tests; worked out once while they are in use, for they may be megabytes."""
        key = id(tests)  # `tests` is kept beside it, so no other object can have it
        if key not in self._known:
            body = json.dumps({"tests": tests}, sort_keys=True, separators=(",", ":")).encode()
            self._known[key] = (tests, _Suite("sha256:" + hashlib.sha256(body).hexdigest(), body))
            if len(self._known) > SUITES_REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key][1]

    def puts(self, name: str) -> int:
        """How often it was put."""
        return self._puts[name]

    def count_put(self, name: str) -> None:
        """It was put once more."""
        self._puts[name] += 1

    def lock(self, name: str) -> asyncio.Lock:
        """For one to put it while the others of its group wait."""
        return self._locks.setdefault(name, asyncio.Lock())


class _Outage:
    """Whether the service is there, as all requests see it together."""

    def __init__(self, url: str, notice: Callable[[str], None]) -> None:
        self._url = url
        self._notice = notice
        self._said = -math.inf
        self._is_known = False  # whoever is told was told of this one
        self._since: float | None = None
        self._ended = 0.0  # seconds of those that are over

    @property
    def seconds(self) -> float:
        """How long it has been away, in all."""
        return self._ended + self._lasted

    @property
    def _lasted(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since

    def goes_on(self, reason: str, since: float) -> None:
        """It is away."""
        self._since = since if self._since is None else self._since
        self._is_known |= self.say(f"is away ({reason}): waiting")

    def is_over(self) -> None:
        """It has answered."""
        if self._since is not None:
            lasted, is_known = self._lasted, self._is_known
            self._ended, self._since, self._is_known = self._ended + lasted, None, False
            if is_known:
                self._notice(f"the reward service at {self._url} is back after {lasted:.1f} s")

    def say(self, text: str) -> bool:
        """Unless something was said just now; whether it was said."""
        is_quiet = time.monotonic() - self._said >= NOTICE_SECONDS
        if is_quiet:
            self._said = time.monotonic()
            self._notice(f"the reward service at {self._url} {text}")
        return is_quiet


class _Service:
    """Requests and answers, and the patience in between."""

    def __init__(self, config: RewardService, notice: Callable[[str], None]) -> None:
        if not config.url.startswith(("http://", "https://")):
            raise ConfigError(f"reward.url: {config.url!r} does not begin with http:// or https://")
        self._config = config
        self._url = config.url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._watch: asyncio.Task[None] | None = None
        self._open = 0
        self._heard = time.monotonic()
        self.outage = _Outage(self._url, notice)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
        self._session = self._watch = None

    async def ask(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Status and JSON, once the service is there to give one. Raises Away, and ConfigError for what is no answer.

        It is away when it has given none for `patience_seconds`, whatever it did instead. No single try is shorter
        than that: to hang up would cancel what is waiting or being graded.
        """
        since = math.inf  # when the trouble began
        for pause in _pauses():
            began = time.monotonic()
            try:
                status, retry_after, answer = await self._once(method, path, body)
            except TimeoutError as trouble:  # of aiohttp's: while connecting; of asyncio's: without words, in all
                reason, since = str(trouble) or f"no answer in {self._config.patience_seconds:g} s", min(since, began)
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as trouble:
                reason, since = str(trouble) or type(trouble).__name__, min(since, time.monotonic())
            else:
                if status not in AWAY:
                    self.outage.is_over()
                    return status, _parsed(answer, status, self._url)
                reason, since = _said(status, _error(answer)), min(since, time.monotonic())
                pause = retry_after or pause  # it knows better
            self.outage.goes_on(reason, since)
            if time.monotonic() + pause - since > self._config.patience_seconds:
                raise Away(
                    f"the reward service at {self._url} has been away for "
                    f"{time.monotonic() - since:.0f} s ({reason}): see reward.url and reward.patience_seconds"
                )
            await asyncio.sleep(pause)
        raise AssertionError("pauses have no end")

    def refusal(self, status: int, answer: Mapping[str, Any], what: str) -> ConfigError:
        """For an answer that another try would not change."""
        said = f"the reward service at {self._url} refuses {what}: {_said(status, answer)}"
        if status in (401, 403):
            is_set = "holds a wrong key" if os.environ.get(self._config.key_variable) else "is not set"
            return ConfigError(f"{said}\n  the environment variable {self._config.key_variable} {is_set}")
        if status in (404, 405):
            return ConfigError(f"{said}\n  is reward.url the address of a reward service?")
        return ConfigError(said)

    async def _once(self, method: str, path: str, body: bytes) -> tuple[int, float | None, bytes]:
        """Status, what `Retry-After` says in seconds, and the body."""
        self._open += 1
        try:
            async with asyncio.timeout(self._config.patience_seconds):
                async with self._connected().request(method, self._url + path, data=body) as response:
                    answer = await response.read()
                    return response.status, _seconds(response.headers.get("Retry-After")), answer
        except (aiohttp.InvalidURL, aiohttp.ClientResponseError) as trouble:
            raise ConfigError(f"reward.url: {self._url} is not the address of a reward service: {trouble}") from None
        finally:
            self._open -= 1
            self._heard = time.monotonic()

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            key = os.environ.get(self._config.key_variable)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=_socket),
                headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            )
            self._watch = asyncio.create_task(self._look_for_silence())
        return self._session

    async def _look_for_silence(self) -> None:
        """A service that takes requests and says nothing is no trouble yet, but somebody may want to know."""
        while True:
            await asyncio.sleep(NOTICE_SECONDS)
            silent = time.monotonic() - self._heard
            if not self._open:
                self._heard = time.monotonic()
            elif silent > QUIET_SECONDS:
                self.outage.say(f"has answered nothing for {silent:.0f} s; {self._open} requests wait for it")


def _socket(address: tuple[Any, ...]) -> socket.socket:
    """One that notices within half a minute that the other side's machine is gone, though nothing is to be sent."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def _pauses(count: float = math.inf) -> Iterator[float]:
    """Seconds between tries: doubled each time, and not the same for all who wait."""
    pause, number = FIRST_PAUSE_SECONDS, 0
    while number < count:
        yield pause * random.uniform(0.75, 1.25)  # noqa: S311 - nothing secret
        pause, number = min(2 * pause, LONGEST_PAUSE_SECONDS), number + 1


def _seconds(header: str | None) -> float | None:
    try:
        return min(max(float(header or ""), 0.0), LONGEST_TOLD_PAUSE_SECONDS)
    except ValueError:  # none, or a date
        return None


def _seed(seed: int, prompt: Prompt, episode_id: str) -> int:
    """Of a group: not of the run's own name, which differs from start to start."""
    group = episode_id.rpartition(".")[0].rpartition(".")[2]
    digest = hashlib.blake2b(f"{seed}/{prompt.id}/{group}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def _json(submission: Mapping[str, Any]) -> bytes:
    return json.dumps(submission).encode()


def _error(answer: bytes) -> dict[str, Any]:
    """What is said, be it JSON or not."""
    try:
        said = json.loads(answer)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {"error": {"message": answer[:200].decode(errors="replace").strip()}}


def _parsed(answer: bytes, status: int, url: str) -> dict[str, Any]:
    said = _error(answer)
    if status == 200 and "error" in said:
        raise ConfigError(f"reward.url: what answers at {url} is not a reward service: {_said(status, said)}")
    return said


def _said(status: int, answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    if not isinstance(error, Mapping):
        return f"{status} {json.dumps(answer)[:200]}"
    return " ".join(str(part) for part in (status, error.get("type"), error.get("message")) if part)


def _is_unknown_suite(status: int, answer: Mapping[str, Any]) -> bool:
    error = answer.get("error")
    return status == 409 and isinstance(error, Mapping) and error.get("type") == "unknown_suite"


def _reason(answer: Mapping[str, Any]) -> str:
    return ": ".join(str(answer[key]) for key in ("failure_kind", "failure_reason") if answer.get(key))


def _reward_of(answer: Mapping[str, Any], seconds: float) -> Reward:
    """Without a verdict there is no value, whatever else is said."""
    verdict, value = answer.get("verdict"), answer.get("reward")
    if not isinstance(verdict, str) or not isinstance(value, int | float | None):
        raise ConfigError(f"reward.url: what answers there is not a reward service: {json.dumps(answer)[:200]}")
    if verdict == "IE" or value is None:
        return Reward(None, verdict, _reason(answer) or "no reason given", seconds)
    return Reward(float(value), verdict, str(answer.get("message") or ""), seconds)
