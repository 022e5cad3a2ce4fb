"""Tests of outages between the trainer and the reward service: temporary ones are waited for, refusals are not."""

from __future__ import annotations

import asyncio
import time

import pytest

from sandbox_service.client import transport as service_module
from tests.fake_service import PASSED, Act, FakeService, answers, breaks_off, hangs_up, says, sleeps
from tests.ports import free_port
from tests.trainer.fake_service import ask, completion, configured, grading, prompt, run
from trainer.errors import ConfigError, UnavailableError

pytestmark = pytest.mark.usefixtures("quick")


def test_the_key_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_API_KEY", raising=False)
    ask(fake := FakeService(), prompt())
    assert "Authorization" not in fake.headers[-1]
    monkeypatch.setenv("OTHER_KEY", "secret")
    ask(fake, prompt(), reward={"key_variable": "OTHER_KEY"})
    assert fake.headers[-1]["Authorization"] == "Bearer secret"


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
        async with grading(configured(f"http://127.0.0.1:{port}"), notices.append) as grader:
            asked = asyncio.create_task(grader.grade("run.x.1.0", prompt(), completion()))
            await asyncio.sleep(0.3)
            assert grader._client.away_seconds > 0.2
            async with FakeService().running(port):
                assert (await asked).value == 1.0
            away = grader._client.away_seconds
            await asyncio.sleep(0.05)
            assert 0.2 < grader._client.away_seconds == away, "an outage that is over does not go on"
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
        ([sleeps(60)], "no answer in 0.3 s"),
        ([says(429, "queue_full", **{"Retry-After": "60"})], "429 queue_full"),
    ],
)
def test_patience_ends(acts: list[Act], said: str) -> None:
    began = time.monotonic()
    with pytest.raises(
        UnavailableError, match=rf"http://127.0.0.1:\d+ has been away for .* \(.*{said}.*\): see reward.url"
    ):
        ask(FakeService(acts=acts), prompt(), reward={"patience_seconds": 0.3})
    assert time.monotonic() - began < 50


def test_patience_with_nobody_there_ends() -> None:
    async def work() -> None:
        async with grading(configured(f"http://127.0.0.1:{free_port()}", reward={"patience_seconds": 0.2})) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(UnavailableError, match="Connect call failed"):
        run(work())


def test_a_service_that_comes_and_goes_is_not_talked_about_all_the_time() -> None:
    fake, notices = FakeService(acts=[hangs_up, answers(PASSED)] * 20), list[str]()
    ask(fake, *[prompt()] * 20, notices=notices)
    assert ["is away" in each for each in notices] == [True, False]


def test_silence_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "NOTICE_SECONDS", 0.05)
    monkeypatch.setattr(service_module, "QUIET_SECONDS", 0.1)
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
        async with server, grading(configured(f"http://127.0.0.1:{port}")) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(ConfigError, match="is not the address of a reward service"):
        run(work())


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "http://", "ftp://127.0.0.1", "http://127.0.0.1:99999"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    async def work() -> None:
        async with grading(configured(url)) as grader:
            await grader.grade("run.x.1.0", prompt(), completion())

    with pytest.raises(ConfigError, match=r"reward\.url"):
        run(work())
