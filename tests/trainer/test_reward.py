"""The reward service at its worst: everything that can be between a sample and its reward, over real HTTP.

The service here is a few lines that misbehave as they are told; one test asks the real one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.trainer.service_world import free_port
from trainer import reward
from trainer.config import Config, resolve
from trainer.episode import Completion, Episode, Prompt, Reward
from trainer.errors import Away, ConfigError, TooManyFaults
from trainer.reward import FaultGauge, Grader, overlong, settle

TESTS = [{"type": "stdin", "output": "3"}, {"type": "stdin", "output": "3\n"}]
PASSED = {"verdict": "AC", "reward": 1.0, "mask_sample": False, "failure_kind": None, "failure_reason": None}
FAULT = {"verdict": "IE", "reward": None, "mask_sample": True, "failure_kind": "sandbox", "failure_reason": "died"}
Act = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(reward, "LONGEST_PAUSE_SECONDS", 0.02)


@dataclass
class FakeService:
    """Stores suites, and answers each request for a grade by the next act; when there are no more, by a pass."""

    acts: list[Act] = field(default_factory=list)
    suites: dict[str, bytes] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    puts: int = 0
    put_status: int = 201
    busy: int = 0
    busiest: int = 0

    async def grade(self, request: web.Request) -> web.StreamResponse:
        said = json.loads(await request.read())
        self.asked.append(said)
        self.headers.append(request.headers)
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        try:
            if said["suite"] not in self.suites:
                return trouble(409, "unknown_suite", "not known here")
            return await self.acts.pop(0)(request, said) if self.acts else web.json_response(PASSED)
        finally:
            self.busy -= 1

    async def put(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        name = request.match_info["name"]
        assert name == "sha256:" + hashlib.sha256(body).hexdigest(), "the name is the hash of the bytes"
        self.puts += 1
        if self.put_status != 201:
            return trouble(self.put_status, "limit_too_high", "too many tests")
        self.suites[name] = body
        return web.json_response({"id": name}, status=201)

    @asynccontextmanager
    async def running(self, port: int) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_post("/v1/grade", self.grade)
        app.router.add_put("/v1/suites/{name}", self.put)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield
        finally:
            await runner.cleanup()


def trouble(status: int, kind: str, message: str, **headers: str) -> web.Response:
    return web.json_response({"error": {"type": kind, "message": message}}, status=status, headers=headers)


def says(status: int, kind: str, message: str = "", **headers: str) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        return trouble(status, kind, message, **headers)

    return act


def answers(answer: object) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=answer) if isinstance(answer, bytes) else web.json_response(answer)

    return act


def sleeps(seconds: float) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.json_response(PASSED)

    return act


async def hangs_up(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def breaks_off(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
    """In the middle of an answer."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"verdict": "AC", "reward": 1.0')
    assert request.transport is not None
    request.transport.abort()
    return response


def configured(url: str = "", **said: Any) -> Config:
    service = {"url": url, "patience_seconds": 5.0} | said.pop("reward", {})
    return resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "name": "run", "reward": service} | said)


def completion(text: str = "```python\nprint(3)\n```", tokens: int = 10, is_truncated: bool = False) -> Completion:
    return Completion([0] * tokens, [0.0] * tokens, text, is_truncated, 0, 0)


def prompt(name: str = "p", **grading: Any) -> Prompt:
    return Prompt(name, [1, 2, 3], grading or {"tests": TESTS})


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


def ask(fake: FakeService, *prompts: Prompt, notices: list[str] | None = None, **said: Any) -> list[Reward]:
    """The rewards of one sample for each prompt, asked for one after the other."""

    async def work() -> list[Reward]:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}/", **said), _to(notices)) as grader:
            return [await grader.grade(f"run.x.{place}.0", each, completion()) for place, each in enumerate(prompts)]

    rewards: list[Reward] = run(work())
    return rewards


def _to(notices: list[str] | None) -> Callable[[str], None]:
    return (notices if notices is not None else []).append


# --- what is asked


def test_a_sample_gets_its_reward() -> None:
    fake = FakeService(acts=[answers(PASSED | {"verdict": "WA", "reward": 0.25, "message": "line 1"})])
    (reward,) = ask(fake, prompt())
    assert (reward.value, reward.verdict, reward.reason, reward.is_fault) == (0.25, "WA", "line 1", False)
    assert 0 < reward.seconds < 5


def test_a_submission_says_what_the_problem_and_the_configuration_say() -> None:
    fake = FakeService()
    problem = prompt(tests=TESTS, checker={"type": "exact"}, limits={"cpu_seconds": 2, "processes": 4})
    ask(
        fake,
        problem,
        reward={"extraction": "answer_tag", "limits": {"cpu_seconds": 9}, "scheme": {"scheme": "fraction"}},
    )
    suite = "sha256:" + hashlib.sha256(fake.suites[fake.asked[-1]["suite"]]).hexdigest()
    assert fake.asked[-1] == {
        "id": "run.x.0.0",
        "completion": completion().text,
        "extraction": "answer_tag",
        "suite": suite,
        "reward": {"scheme": "fraction"},
        "stop_on_failure": False,
        "labels": {"client": "run"},
        "checker": {"type": "exact"},
        "limits": {"cpu_seconds": 9, "processes": 4},
    }
    assert json.loads(fake.suites[suite]) == {"tests": TESTS}


def test_tests_are_stored_once_and_named_afterwards() -> None:
    fake = FakeService()
    ask(fake, prompt("a"), prompt("a"), prompt("b", tests=TESTS[:1]), prompt("a"))
    assert fake.puts == len(fake.suites) == 2
    assert "tests" not in fake.asked[-1]


def test_a_group_that_comes_at_once_stores_its_tests_once() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}")) as grader:
            await asyncio.gather(*(grader.grade(f"run.x.1.{each}", prompt(), completion()) for each in range(16)))

    run(work(fake := FakeService()))
    assert fake.puts == 1


def test_a_suite_that_the_service_has_forgotten_is_put_again() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}")) as grader:
            for each in range(3):
                assert (await grader.grade(f"run.x.{each}.0", prompt(), completion())).value == 1.0
                fake.suites.clear()

    run(work(fake := FakeService()))
    assert fake.puts == 3


def test_a_suite_that_only_has_a_name_cannot_be_put() -> None:
    with pytest.raises(ConfigError, match=r"problem 'p': .* does not know its suite sha256:0000"):
        ask(FakeService(), prompt(suite="sha256:" + "0" * 64))


def test_a_suite_that_is_never_known_is_a_fault_in_the_end() -> None:
    fake = FakeService(acts=[says(409, "unknown_suite", "gone")] * 100)
    (reward,) = ask(fake, prompt())
    assert (reward.is_fault, reward.reason) == (True, "given_up: 409 unknown_suite gone")


def test_a_groups_samples_are_put_to_the_same_tests() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}", reward={"tests": 1})) as grader:
            for name in ("run.x.1.0", "run.x.1.15", "run.y.1.0", "run.x.2.0"):
                await grader.grade(name, prompt(), completion())
            await grader.grade("run.x.1.0", prompt("q"), completion())

    run(work(fake := FakeService()))
    one, same, restarted, later, other = [each["sample"]["seed"] for each in fake.asked[1:]]
    assert all(each["sample"]["count"] == 1 for each in fake.asked)
    assert one == same == restarted
    assert len({one, later, other}) == 3


def test_the_key_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_API_KEY", raising=False)
    ask(fake := FakeService(), prompt())
    assert "Authorization" not in fake.headers[-1]
    monkeypatch.setenv("OTHER_KEY", "secret")
    ask(fake, prompt(), reward={"key_variable": "OTHER_KEY"})
    assert fake.headers[-1]["Authorization"] == "Bearer secret"


def test_no_more_are_asked_at_once_than_is_said() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        said = configured(f"http://127.0.0.1:{port}", reward={"concurrency": 3})
        async with fake.running(port), Grader(said) as grader:
            await asyncio.gather(*(grader.grade(f"run.x.{each}.0", prompt(), completion()) for each in range(12)))

    run(work(fake := FakeService(acts=[sleeps(0.02)] * 12)))
    assert fake.busiest == 3


def test_half_a_character_is_no_reason_to_stop() -> None:
    async def work(fake: FakeService) -> Any:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}")) as grader:
            return await grader.grade("run.x.1.0", prompt(), completion("a\ud800b"))

    assert run(work(fake := FakeService())).value == 1.0
    assert fake.asked[-1]["completion"] == "a?b"


# --- trouble that is waited for


@pytest.mark.parametrize(
    "act",
    [
        hangs_up,
        breaks_off,
        says(408, "too_slow"),
        says(429, "queue_full", **{"Retry-After": "0"}),
        says(502, ""),
        says(503, "unavailable", **{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        says(504, ""),
    ],
    ids=["hangs up", "breaks off", "408", "429", "502", "503", "504"],
)
def test_what_passes_is_waited_for_with_the_same_id(act: Act) -> None:
    fake, notices = FakeService(acts=[act, act]), list[str]()
    (reward,) = ask(fake, prompt(), notices=notices)
    assert reward.value == 1.0
    assert [each["id"] for each in fake.asked] == ["run.x.0.0"] * 4, "an unknown suite, twice the trouble, and a pass"
    assert fake.asked[1] == fake.asked[2] == fake.asked[3]
    assert "is away (" in notices[0]
    assert "is back after" in notices[-1]


def test_a_service_that_is_not_there_yet_is_waited_for() -> None:
    async def work() -> None:
        port, notices = free_port(), list[str]()
        async with Grader(configured(f"http://127.0.0.1:{port}"), notices.append) as grader:
            asked = asyncio.create_task(grader.grade("run.x.1.0", prompt(), completion()))
            await asyncio.sleep(0.3)
            assert grader.away_seconds > 0.2
            async with FakeService().running(port):
                assert (await asked).value == 1.0
            away = grader.away_seconds
            await asyncio.sleep(0.05)
            assert 0.2 < grader.away_seconds == away, "an outage that is over does not go on"
        assert len(notices) == 2, "once that it is away, however often it was tried, and once that it is back"
        assert f"http://127.0.0.1:{port} is away (" in notices[0]
        assert "): waiting" in notices[0]

    run(work())


def test_a_pause_that_is_asked_for_is_made() -> None:
    fake = FakeService(acts=[says(429, "queue_full", **{"Retry-After": "1"})])
    began = time.monotonic()
    ask(fake, prompt())
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ([hangs_up] * 1000, "disconnected"),
        ([says(503, "unavailable", "no usable jail")] * 1000, "503 unavailable no usable jail"),
        ([sleeps(10)], "no answer in 0.3 s"),
        ([says(429, "queue_full", **{"Retry-After": "60"})], "429 queue_full"),
    ],
)
def test_patience_ends(acts: list[Act], said: str) -> None:
    began = time.monotonic()
    with pytest.raises(Away, match=rf"http://127.0.0.1:\d+ has been away for .* \(.*{said}.*\): see reward.url"):
        ask(FakeService(acts=acts), prompt(), reward={"patience_seconds": 0.3})
    assert time.monotonic() - began < 8


def test_patience_with_nobody_there_ends() -> None:
    async def work() -> None:
        async with Grader(configured(f"http://127.0.0.1:{free_port()}", reward={"patience_seconds": 0.2})) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(Away, match="Connect call failed"):
        run(work())


def test_a_service_that_comes_and_goes_is_not_talked_about_all_the_time() -> None:
    fake, notices = FakeService(acts=[hangs_up, answers(PASSED)] * 20), list[str]()
    ask(fake, *[prompt()] * 20, notices=notices)
    assert ["is away" in each for each in notices] == [True, False]


def test_silence_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward, "NOTICE_SECONDS", 0.05)
    monkeypatch.setattr(reward, "QUIET_SECONDS", 0.1)
    notices: list[str] = []
    ask(FakeService(acts=[sleeps(0.4)]), prompt(), notices=notices)
    assert "has answered nothing for" in notices[0]
    assert notices[0].endswith("s; 1 requests wait for it")


# --- trouble that is not


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422, 431])
def test_a_refusal_ends_the_run_at_once_and_says_why(status: int) -> None:
    fake = FakeService(acts=[says(status, "kind", "the very message")])
    with pytest.raises(ConfigError, match=rf"refuses problem 'p': {status} kind the very message"):
        ask(fake, prompt())
    assert len(fake.asked) == 2, "an unknown suite and the refusal"


def test_a_refused_suite_names_its_problem() -> None:
    with pytest.raises(ConfigError, match=r"refuses the tests of problem 'p': 422 limit_too_high too many tests"):
        ask(FakeService(put_status=422), prompt())


def test_a_missing_and_a_wrong_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="PROCTOR_API_KEY is not set"):
        ask(FakeService(acts=[says(401, "unauthorized")]), prompt())
    monkeypatch.setenv("PROCTOR_API_KEY", "x")
    with pytest.raises(ConfigError, match="PROCTOR_API_KEY holds a wrong key"):
        ask(FakeService(acts=[says(401, "unauthorized")]), prompt())


@pytest.mark.parametrize("answer", [b"<html>hello</html>", b"[1]", {}, {"verdict": "AC", "reward": "1"}])
def test_what_is_no_reward_service_is_recognised(answer: object) -> None:
    with pytest.raises(ConfigError, match="not a reward service"):
        ask(FakeService(acts=[answers(answer)]), prompt())


def test_what_does_not_speak_http_is_recognised() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    async def work() -> None:
        server = await asyncio.start_server(greet, "127.0.0.1", port := free_port())
        async with server, Grader(configured(f"http://127.0.0.1:{port}")) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(ConfigError, match="is not the address of a reward service"):
        run(work())


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "http://", "ftp://127.0.0.1", "http://127.0.0.1:99999"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    async def work() -> None:
        async with Grader(configured(url)) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(ConfigError, match=r"reward\.url"):
        run(work())


# --- no verdict


def test_no_verdict_is_no_reward() -> None:
    (reward,) = ask(FakeService(acts=[answers(FAULT)]), prompt())
    assert (reward.value, reward.verdict, reward.reason) == (None, "IE", "sandbox: died")


def test_a_reward_beside_a_fault_is_not_believed() -> None:
    (reward,) = ask(FakeService(acts=[answers(FAULT | {"reward": 0.0})]), prompt())
    assert reward.value is None


@pytest.mark.parametrize("kind", ["suite_lost", "forgotten"])
def test_what_the_service_lost_is_sent_again(kind: str) -> None:
    fake = FakeService(acts=[answers(FAULT | {"failure_kind": kind})] * 2)
    (reward,) = ask(fake, prompt())
    assert reward.value == 1.0
    assert fake.puts == (3 if kind == "suite_lost" else 1)


def test_a_service_that_fails_at_one_sample_loses_only_that() -> None:
    fake = FakeService(acts=[says(500, "internal_error", "a defect")] * reward.TRIES)
    lost, fine = ask(fake, prompt(), prompt())
    assert (lost.is_fault, lost.reason) == (True, "given_up: 500 internal_error a defect")
    assert fake.puts == 1, "the tests were not at fault"
    assert fine.value == 1.0


def gauged(gauge: FaultGauge, faults: Iterable[bool]) -> int:
    """How many were counted before it ended the run; -1 if it did not."""
    for place, is_fault in enumerate(faults, 1):
        try:
            gauge.count(Reward(None, "IE", "sandbox: died") if is_fault else Reward(0.0, "WA"))
        except TooManyFaults:
            return place
    return -1


def every(period: int, count: int = 20_000) -> list[bool]:
    return [place % period == 0 for place in range(1, count + 1)]


def test_two_per_cent_end_a_run_and_half_a_per_cent_does_not() -> None:
    assert 0 < gauged(FaultGauge(0.01), every(50)) <= 1000
    assert gauged(FaultGauge(0.01), every(200)) == -1


def test_by_chance_two_per_cent_end_a_run_soon_and_half_a_per_cent_does_not() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        assert 0 < gauged(FaultGauge(0.01), [chance.random() < 0.02 for _ in range(20_000)]) < 10_000
        assert gauged(FaultGauge(0.01), [chance.random() < 0.005 for _ in range(20_000)]) == -1


def test_a_service_that_only_fails_ends_a_run_at_once() -> None:
    assert gauged(FaultGauge(0.01), [True] * 100) == 7
    assert gauged(FaultGauge(0.0), [False] * 50 + [True]) == 51
    assert gauged(FaultGauge(1.0), [True] * 2000) == -1


def test_what_was_long_ago_is_forgotten() -> None:
    assert gauged(FaultGauge(0.01), ([True] * 6 + [False] * 1000) * 20) == -1


def grade_many(period: int) -> list[Reward]:
    """1100 samples, of which the service fails at every so many."""

    async def work() -> list[Reward]:
        fake = FakeService(acts=[answers(FAULT if is_fault else PASSED) for is_fault in every(period, 1100)])
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}")) as grader:
            return [await grader.grade(f"run.x.{each}.0", prompt(), completion()) for each in range(1100)]

    rewards: list[Reward] = run(work())
    return rewards


def test_two_per_cent_of_faults_over_http_end_a_run_and_are_named() -> None:
    with pytest.raises(TooManyFaults, match=r"(?s)18 of the last 900 samples .*\(2\.0%;.*18 × sandbox: died"):
        grade_many(period=50)


def test_half_a_per_cent_of_faults_over_http_are_masked() -> None:
    assert sum(each.is_fault for each in grade_many(period=200)) == 5


# --- what is made of it


@pytest.mark.parametrize(
    ("tokens", "penalty"),
    [(0, 0.0), (16384, 0.0), (16385, -1 / 4096), (17408, -0.25), (18432, -0.5), (20480, -1.0), (30000, -1.0)],
)
def test_overlong_is_dapos(tokens: int, penalty: float) -> None:
    assert overlong(tokens, 20480, 4096, 1.0) == penalty
    assert overlong(tokens, 20480, 4096, 0.5) == penalty / 2


def test_overlong_is_archers_and_can_be_off() -> None:
    assert [overlong(tokens, 32768, 16, 1.0) for tokens in (32752, 32756, 32768)] == [0.0, -0.25, -1.0]
    assert overlong(32768, 32768, 0, 1.0) == 0.0


def episode(value: float | None, tokens: int = 10, is_truncated: bool = False) -> Episode:
    return Episode(prompt(), completion("", tokens, is_truncated), Reward(value))


def test_a_sample_without_a_verdict_is_masked_and_no_other() -> None:
    group = settle([episode(None), episode(0.0), episode(1.0, is_truncated=True)], configured())
    assert [each.is_masked for each in group.episodes] == [True, False, False]
    assert not any(each.is_silenced for each in group.episodes)
    assert group.prompt.id == "p"


def test_the_filter_silence_is_of_what_is_cut_and_wrong() -> None:
    episodes = [
        episode(value, is_truncated=cut) for value, cut in ((0.0, True), (0.0, False), (1.0, True), (-1.0, True))
    ]
    group = settle(episodes, configured(reward={"overlong_filter": "silence"}))
    assert [each.is_silenced for each in group.episodes] == [True, False, False, True]
    assert not any(each.is_masked for each in group.episodes)


def test_the_filter_mask_is_of_all_that_is_cut() -> None:
    episodes = [episode(0.0, is_truncated=True), episode(1.0, is_truncated=True), episode(0.0)]
    group = settle(episodes, configured(reward={"overlong_filter": "mask"}))
    assert [each.is_masked for each in group.episodes] == [True, True, False]
    assert not any(each.is_silenced for each in group.episodes)


def test_the_penalty_is_of_the_room_that_the_response_had() -> None:
    said: dict[str, Any] = {"reward": {"overlong_buffer": 10, "overlong_factor": 2.0}}
    at_most = configured(**said, rollout={"max_tokens": 100})
    group = settle([episode(1.0, 90), episode(1.0, 95), episode(1.0, 100)], at_most)
    assert [each.total for each in group.episodes] == [1.0, 0.0, -1.0]
    cramped = configured(**said, rollout={"max_tokens": 100, "max_model_len": 83})  # the prompt has 3
    assert settle([episode(1.0, 75)], cramped).episodes[0].penalty == -1.0


def test_a_penalty_does_not_make_a_flat_group_another() -> None:
    group = settle(
        [episode(1.0, 10), episode(1.0, 100)], configured(reward={"overlong_buffer": 50}, rollout={"max_tokens": 100})
    )
    assert group.is_flat
    assert group.episodes[0].total != group.episodes[1].total


# --- the real one


def test_the_real_service_pays_for_what_is_right(service: str) -> None:
    async def work() -> list[Reward]:
        texts = ["```python\nprint(3)\n```", "```python\nprint(4)\n```", "no program"]
        async with Grader(configured(service, name="real", reward={"patience_seconds": 60.0, "tests": 1})) as grader:
            return await asyncio.gather(
                *(
                    grader.grade(f"real.{service}.1.{place}", prompt(), completion(text))
                    for place, text in enumerate(texts)
                )
            )

    rewards: list[Reward] = run(work())
    assert [(each.value, each.verdict) for each in rewards] == [(1.0, "AC"), (0.0, "WA"), (0.0, "CE")]


def test_the_real_service_refuses_what_is_wrong(service: str) -> None:
    async def work(problem: Prompt) -> None:
        async with Grader(configured(service, name="real")) as grader:
            await grader.grade("real.refused.1.0", problem, completion())

    with pytest.raises(ConfigError, match=r"refuses problem 'p': 422 "):
        run(work(prompt(tests=TESTS, limits={"cpu_seconds": 1e9})))
    with pytest.raises(ConfigError, match="does not know its suite"):
        run(work(prompt(suite="sha256:" + "0" * 64)))
