"""skyrl-agent's verifier for programs, unmodified, with `/run_code`; and our environment, created by skyrl-gym."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.foreign import Foreign, opened
from tests.adapters.programs import ANSWERS, BAD_TEST, CODE, COLUMNS, SLOW, answer
from tests.adapters.troubled import bereaved, narrow, restarted
from tests.conftest import Service

QUICK = {name: text for name, text in ANSWERS.items() if name != "late"}  # which has 30 s with the verifier
NAP = "import time\ntime.sleep(4)\n"


@pytest.fixture(scope="module")
def skyrl() -> Iterator[Foreign]:
    with opened("skyrl", "skyrl_rewards") as running:
        yield running


def rewards(skyrl: Foreign, url: str, means: str, *answers: str, truth: Any = COLUMNS) -> list[Any]:
    samples = [{"answer": each, "truth": truth} for each in answers]
    found: list[Any] = skyrl.ask({"url": url, "means": means, "samples": samples})
    return found


def test_every_end_of_a_program_is_scored_by_skyrl_s_verifier(skyrl: Foreign, service: Service) -> None:
    found = rewards(skyrl, service.client.url, "verifier", *QUICK.values())
    assert dict(zip(QUICK, found, strict=True)) == {name: float(name == "right") for name in QUICK}


def test_every_end_of_a_program_is_rewarded_by_our_environment(skyrl: Foreign, service: Service) -> None:
    found = rewards(skyrl, service.client.url, "environment", *ANSWERS.values())
    assert dict(zip(ANSWERS, found, strict=True)) == {name: float(name == "right") for name in ANSWERS}


def test_without_a_verdict_our_environment_raises(skyrl: Foreign, service: Service) -> None:
    [said] = rewards(skyrl, service.client.url, "environment", ANSWERS["right"], truth=BAD_TEST)
    assert said.startswith("Fault: 1 of 1 have no verdict")


@pytest.mark.parametrize("means", ["verifier", "environment"])
def test_more_than_there_is_room_for_is_held(skyrl: Foreign, means: str) -> None:
    with narrow() as service:
        assert rewards(skyrl, service.client.url, means, *[ANSWERS["right"]] * 8) == [1.0] * 8


def test_a_slot_that_dies_costs_no_reward(skyrl: Foreign) -> None:
    with bereaved() as url:
        assert rewards(skyrl, url, "verifier", answer(NAP + CODE["right"])) == [1.0]


@pytest.mark.parametrize(
    ("means", "how"), [("verifier", signal.SIGTERM), ("environment", signal.SIGTERM), ("environment", signal.SIGKILL)]
)
def test_a_restart_in_the_middle_costs_no_reward(skyrl: Foreign, means: str, how: signal.Signals) -> None:
    """A crash does with the verifier, which does not retry."""
    with restarted(how) as url:
        assert rewards(skyrl, url, means, answer(SLOW)) == [1.0]
