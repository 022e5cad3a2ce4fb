"""OpenRLHF's own executor and sample generator with `--reward.remote_url`, as our URL and as our file."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.foreign import REPOSITORY, Foreign, opened
from tests.adapters.programs import ANSWERS, BAD_TEST, CODE, COLUMNS, SLOW, answer
from tests.adapters.troubled import bereaved, narrow, restarted
from tests.conftest import Service

ADAPTER = REPOSITORY / "sandbox_service" / "adapters" / "openrlhf.py"
PROMPT = "<|im_start|>user\nRead two numbers, print their sum, such as\n```python\nprint(0)\n```\n<|im_end|>\n"
LIMITS = {"limits": {"cpu_seconds": 1}}
NAP = "import time\ntime.sleep(4)\n"


@pytest.fixture(scope="module")
def openrlhf() -> Iterator[Foreign]:
    with opened("openrlhf", "openrlhf_rollouts") as running:
        yield running


def by_route(url: str) -> dict[str, Any]:
    return {"rewards": f"{url}/get_reward"}


def by_adapter(url: str) -> dict[str, Any]:
    return {"rewards": str(ADAPTER), "environment": {"PROCTOR_URL": url, "PROCTOR_WITHOUT_VERDICT": ""}}


def group(*answers: str, truth: Any = COLUMNS) -> dict[str, Any]:
    tests = truth if truth is BAD_TEST else {"tests": truth} | LIMITS
    return {"prompt": PROMPT, "label": json.dumps(tests), "answers": answers}


def rewards(openrlhf: Foreign, means: dict[str, Any], *answers: str) -> list[float | None]:
    said = openrlhf.ask(means | {"groups": [group(*answers)]})
    return [each["reward"] for each in said["experiences"]]


@pytest.mark.parametrize("means", [by_route, by_adapter])
def test_every_end_of_a_program_has_the_reward_that_openrlhf_means(
    openrlhf: Foreign, service: Service, means: Any
) -> None:
    found = rewards(openrlhf, means(service.client.url), *ANSWERS.values())
    assert dict(zip(ANSWERS, found, strict=True)) == {name: float(name == "right") for name in ANSWERS}


@pytest.mark.parametrize("means", [by_route, by_adapter])
def test_groups_that_teach_nothing_are_filtered_by_their_scores(
    openrlhf: Foreign, service: Service, means: Any
) -> None:
    groups = [group(ANSWERS["right"], ANSWERS["right"]), group(ANSWERS["right"], ANSWERS["wrong"])]
    asked = means(service.client.url) | {"groups": groups, "filtering": True, "wanted": 1}
    said = openrlhf.ask(asked)
    assert said["consumed"] == 2, "the first group should have been replaced"
    assert [each["score"] for each in said["experiences"]] == [1.0, 0.0]


# --- trouble


def test_more_than_there_is_room_for_is_held_and_rewarded(openrlhf: Foreign) -> None:
    with narrow() as service:
        assert rewards(openrlhf, by_route(service.client.url), *[ANSWERS["right"]] * 16) == [1.0] * 16


def test_a_slot_that_dies_costs_no_reward(openrlhf: Foreign) -> None:
    with bereaved() as url:
        assert rewards(openrlhf, by_route(url), answer(NAP + CODE["right"])) == [1.0]


@pytest.mark.parametrize("means", [by_route, by_adapter])
def test_a_polite_restart_in_the_middle_costs_no_reward(openrlhf: Foreign, means: Any) -> None:
    with restarted(signal.SIGTERM) as url:
        assert rewards(openrlhf, means(url), *[answer(SLOW)] * 4) == [1.0] * 4


def test_a_crash_in_the_middle_is_never_a_zero(openrlhf: Foreign) -> None:
    """With the route OpenRLHF retries five times within five seconds; a longer outage ends the run."""
    with restarted(signal.SIGKILL) as url:
        assert set(rewards(openrlhf, by_route(url), *[answer(SLOW)] * 4)) <= {1.0, None}


def test_the_adapter_waits_for_longer_than_openrlhf_would(openrlhf: Foreign) -> None:
    with restarted(signal.SIGKILL, away_seconds=12) as url:
        assert rewards(openrlhf, by_adapter(url), *[answer(SLOW)] * 4) == [1.0] * 4


# --- without a verdict


@pytest.mark.parametrize("means", [by_route, by_adapter])
def test_without_a_verdict_there_is_no_reward_and_never_a_zero(openrlhf: Foreign, service: Service, means: Any) -> None:
    """A sample whose `rewards` is None ends OpenRLHF's run, so it is not trained on."""
    said = openrlhf.ask(means(service.client.url) | {"groups": [group(ANSWERS["right"], truth=BAD_TEST)]})
    assert [each["reward"] for each in said["experiences"]] == [None]


@pytest.mark.parametrize("means", [by_route, by_adapter])
def test_if_wanted_dynamic_filtering_drops_a_group_without_a_verdict(
    openrlhf: Foreign, service: Service, means: Any
) -> None:
    asked = means(service.client.url)
    if "environment" in asked:
        asked["environment"]["PROCTOR_WITHOUT_VERDICT"] = "nan"
    else:
        asked["rewards"] += "?fault=nan"
    groups = [
        group(ANSWERS["right"], ANSWERS["wrong"], truth=BAD_TEST),
        group(ANSWERS["right"], ANSWERS["wrong"]),
    ]
    said = openrlhf.ask(asked | {"groups": groups, "filtering": True, "wanted": 1})
    assert said["consumed"] == 2, "the group without a verdict should have been replaced"
    assert [each["reward"] for each in said["experiences"]] == [1.0, 0.0]
