"""The client of a model: retries while the endpoint is unavailable, and reports refusals with advice."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from typing import Any

import pytest

from sandbox_service.errors import ConfigurationError, UnavailableError
from sandbox_service.validation import model
from sandbox_service.validation.completions import Completion
from sandbox_service.validation.model import Messages, Model, ModelRefusedError
from sandbox_service.validation.recipe import Difficulty
from tests.ports import free_port
from tests.validation.endpoint import Act, Endpoint, Json, completion, refusal, serving


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "FIRST_PAUSE_SECONDS", 0.01)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(Endpoint()) as running:
        yield running


def user(*texts: str) -> list[Messages]:
    return [[{"role": "user", "content": text}] for text in texts]


def ask(
    url: str, prompts: Sequence[Messages], notices: list[str] | None = None, key: str = "", **fields: Any
) -> list[Completion]:
    """Send all prompts concurrently; raises what one of them raises."""

    async def together() -> list[Completion]:
        wanted = Difficulty(url=url, model="m", **fields)
        async with Model(wanted, key, (notices if notices is not None else []).append) as asked:
            return await asyncio.gather(*(asked.ask(each, number) for number, each in enumerate(prompts)))

    return asyncio.run(together())


def test_what_is_asked_is_what_the_recipe_says(endpoint: Endpoint) -> None:
    said = ask(endpoint.url, user("Add."), key="k", temperature=0.7, top_p=0.9, max_tokens=5, extra={"top_k": 20})
    assert said == [Completion("yes", is_cut=False, tokens=3)]
    assert endpoint.keys == {"Bearer k"}
    assert endpoint.asked == [
        {"model": "m", "messages": [{"role": "user", "content": "Add."}], "temperature": 0.7, "top_p": 0.9}
        | {"max_tokens": 5, "seed": 0, "top_k": 20}
    ]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (completion("half", "length"), Completion("half", True, 4)),
        (completion(None, "length"), Completion("", True, 0)),
    ],
)
def test_what_was_cut_off_is_known(endpoint: Endpoint, act: Act, said: Completion) -> None:
    endpoint.acts.append(act)
    assert ask(endpoint.url, user("x")) == [said]


def test_half_a_surrogate_pair_is_no_text(endpoint: Endpoint) -> None:
    endpoint.acts.append(completion("a\ud800b"))
    assert ask(endpoint.url, user("x"))[0].text == "a?b"


def test_who_limits_a_rate_is_not_told_of_every_time(endpoint: Endpoint) -> None:
    endpoint.say = lambda _: refusal(429, "slow down") if len(endpoint.asked) % 2 else completion("yes")
    notices: list[str] = []
    ask(endpoint.url, user(*"abcdef"), notices, concurrency=1)
    assert len(notices) == 2, "once away, once back"


def test_so_many_at_once_and_no_more(endpoint: Endpoint) -> None:
    endpoint.seconds = 0.2  # so that three are there together on a busy machine, too
    assert len(ask(endpoint.url, user(*"abcdefghijkl"), concurrency=3)) == 12
    assert endpoint.most_at_once == 3


@pytest.mark.parametrize("how", ["seconds", "date"])
def test_who_is_busy_is_asked_again_when_he_says(endpoint: Endpoint, how: str) -> None:
    wait = "1" if how == "seconds" else formatdate(time.time() + 2, usegmt=True)
    endpoint.acts.append(refusal(429, "too many", **{"Retry-After": wait}))
    notices: list[str] = []
    begin = time.monotonic()
    assert ask(endpoint.url, user("x"), notices)[0].text == "yes"
    assert time.monotonic() - begin >= 0.95
    assert "is away (429: too many): waiting" in notices[0]
    assert notices[1].endswith("answers")


@pytest.mark.parametrize("act", [refusal(503, "loading"), refusal(500, "oh"), completion("", "abort")])
def test_a_fault_of_its_own_is_asked_again(endpoint: Endpoint, act: Act) -> None:
    endpoint.acts += [act, act]
    assert ask(endpoint.url, user("x"))[0].text == "yes"


def test_who_is_not_there_yet_is_waited_for() -> None:
    port, notices = free_port(), list[str]()
    endpoint, done = Endpoint(), threading.Event()

    def come_late() -> None:
        time.sleep(0.3)
        with serving(endpoint, port):
            done.wait(30)

    thread = threading.Thread(target=come_late)
    thread.start()
    try:
        assert ask(f"http://127.0.0.1:{port}/v1", user("x"), notices)[0].text == "yes"
    finally:
        done.set()
        thread.join()
    assert len(notices) == 2, "it is said once, and that it is over"
    assert "Connection refused" in notices[0]


def test_patience_has_an_end() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(
        UnavailableError, match=r"has been away for .* \(.*Connection refused\); give the same command again to go on"
    ):
        ask(url, user("x"), patience_seconds=0.1)


def test_who_takes_a_request_and_says_nothing_is_given_up(endpoint: Endpoint) -> None:
    endpoint.seconds = 1.0
    with pytest.raises(UnavailableError, match="timed out"):
        ask(endpoint.url, user("x"), patience_seconds=0.2)


def test_what_is_on_its_way_is_hung_up_on(endpoint: Endpoint) -> None:
    endpoint.seconds = 30.0

    async def leave() -> None:
        async with Model(Difficulty(url=endpoint.url, model="m"), "", print) as asked:
            task = asyncio.create_task(asked.ask(user("x")[0], 0))
            while not endpoint.asked:
                await asyncio.sleep(0.01)
            task.cancel()

    begin = time.monotonic()
    asyncio.run(leave())
    assert time.monotonic() - begin < 25


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (refusal(401, "no key"), "401: no key\n  OPENAI_API_KEY is not set"),
        (refusal(404, "no such model"), r"is there a model 'm', and is url"),
        (refusal(307, "elsewhere"), r"often ends in /v1"),
        (refusal(402, "pay"), "402: pay"),
        (refusal(400, "temperature must be 1"), r"temperature must be 1\n  change it in the recipe"),
        ((422, {}, b'{"detail": "seed is unknown"}'), "seed is unknown"),
        ((200, {}, b"<html>hello"), r"does not implement OpenAI's chat completions: '<html>hello'"),
        ((200, {}, b"[]"), "does not implement"),
        ((200, {}, b'{"choices": []}'), "does not implement"),
    ],
)
def test_what_is_refused_is_said_with_what_to_change(endpoint: Endpoint, act: Act, said: str) -> None:
    endpoint.say = lambda _: act
    with pytest.raises(ConfigurationError, match=said):
        ask(endpoint.url, user("a", "b"))


def test_a_wrong_key_is_not_an_absent_one(endpoint: Endpoint) -> None:
    endpoint.say = lambda _: refusal(401, "no")
    with pytest.raises(ConfigurationError, match="MY_KEY holds a wrong key"):
        ask(endpoint.url, user("x"), key="k", key_variable="MY_KEY")
    with pytest.raises(ConfigurationError, match="MY_KEY is not a valid key"):
        ask(endpoint.url, user("x"), key="k\nHost: y", key_variable="MY_KEY")


@pytest.mark.parametrize("status", [400, 500])
def test_a_prompt_that_is_refused_while_others_are_not_is_its_own_trouble(endpoint: Endpoint, status: int) -> None:
    def say(body: Json) -> Act:
        is_long = body["messages"][0]["content"] == "long"
        return refusal(status, "beyond the model's room") if is_long else completion("yes")

    endpoint.say = say
    with pytest.raises(ModelRefusedError, match="beyond the model's room"):
        ask(endpoint.url, user("long"))


@pytest.mark.parametrize(
    "url", ["nonsense", "ftp://x/v1", "http://", "http://x:0/v1", "http://x:port/v1", "http://x/a b", "http://a..b/v1"]
)
def test_what_is_no_address_is_said(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"url: "):
        ask(url, user("x"))
