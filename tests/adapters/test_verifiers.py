"""verifiers' tasks, unmodified, with our reward function in their configuration."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.foreign import Foreign, opened
from tests.adapters.programs import ANSWERS, BAD_TEST, COLUMNS, SLOW, answer
from tests.adapters.troubled import narrow, restarted
from tests.conftest import Service

TRUTH = {"tests": COLUMNS, "limits": {"cpu_seconds": 1}}


@pytest.fixture(scope="module")
def verifiers() -> Iterator[Foreign]:
    with opened("verifiers", "verifiers_rewards") as running:
        yield running


def scores(verifiers: Foreign, url: str, *answers: str, truth: Any = TRUTH) -> list[Any]:
    asked = {"url": url, "samples": [{"answer": each, "truth": truth} for each in answers]}
    found: list[Any] = verifiers.ask(asked)
    return found


def test_every_end_of_a_program_is_recorded_on_its_trace(verifiers: Foreign, service: Service) -> None:
    said = scores(verifiers, service.client.url, *ANSWERS.values())
    found = {name: each["rewards"]["proctor"] for name, each in zip(ANSWERS, said, strict=True)}
    assert found == {name: float(name == "right") for name in ANSWERS}


def test_without_a_verdict_the_trace_has_an_error_and_no_reward(verifiers: Foreign, service: Service) -> None:
    [said] = scores(verifiers, service.client.url, ANSWERS["right"], truth=BAD_TEST)
    assert said == {"rewards": {"proctor": None}, "error": "TaskError"}


def test_more_than_there_is_room_for_is_waited_for(verifiers: Foreign) -> None:
    with narrow() as service:
        said = scores(verifiers, service.client.url, *[ANSWERS["right"]] * 8)
    assert [each["rewards"]["proctor"] for each in said] == [1.0] * 8


def test_a_crash_in_the_middle_costs_no_reward(verifiers: Foreign) -> None:
    with restarted(signal.SIGKILL) as url:
        [said] = scores(verifiers, url, answer(SLOW))
    assert said["rewards"]["proctor"] == 1.0
