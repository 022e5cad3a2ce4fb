"""AReaL's single-turn workflow with our class in place of its reward function."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.foreign import Foreign, opened
from tests.adapters.programs import ANSWERS, BAD_TEST, COLUMNS, SLOW, answer
from tests.adapters.troubled import narrow, restarted
from tests.conftest import Service


@pytest.fixture(scope="module")
def areal() -> Iterator[Foreign]:
    with opened("areal", "areal_episodes") as running:
        yield running


def rewards(areal: Foreign, url: str, *answers: str, truth: Any = COLUMNS) -> list[float | None]:
    found: list[float | None] = areal.ask(
        {"url": url, "samples": [{"answer": each, "truth": truth} for each in answers]}
    )
    return found


def test_every_end_of_a_program_is_in_its_episode(areal: Foreign, service: Service) -> None:
    found = rewards(areal, service.client.url, *ANSWERS.values())
    assert dict(zip(ANSWERS, found, strict=True)) == {name: float(name == "right") for name in ANSWERS}


def test_an_episode_without_a_verdict_is_rejected(areal: Foreign, service: Service) -> None:
    assert rewards(areal, service.client.url, ANSWERS["right"], truth=BAD_TEST) == [None]


def test_more_than_there_is_room_for_is_waited_for(areal: Foreign) -> None:
    with narrow() as service:
        assert rewards(areal, service.client.url, *[ANSWERS["right"]] * 8) == [1.0] * 8


def test_a_crash_in_the_middle_costs_no_reward(areal: Foreign) -> None:
    with restarted(signal.SIGKILL) as url:
        assert rewards(areal, url, answer(SLOW)) == [1.0]
