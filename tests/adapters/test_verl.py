"""verl's own reward worker, unmodified, with `reward.sandbox_fusion.url` and with our function as custom reward."""

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

ADAPTER = REPOSITORY / "sandbox_service" / "adapters" / "verl.py"
SCORES = {"right": 1.0, "wrong": 1 / 3, "crashing": 0.0, "broken": 0.0, "silent": 0.0}
NAP = "import time\ntime.sleep(4)\n"


@pytest.fixture(scope="module")
def verl() -> Iterator[Foreign]:
    with opened("verl", "verl_rewards") as running:
        yield running


def by_route(url: str) -> list[str]:
    return [f"reward.sandbox_fusion.url={url}/run_code"]


def by_adapter(url: str, **options: object) -> list[str]:
    function = "reward.custom_reward_function"
    given = {"url": url, "limits": {"cpu_seconds": 1}, **options}
    arguments = [f"+{function}.reward_kwargs.{name}={as_hydra(value)}" for name, value in given.items()]
    return [f"{function}.path={ADAPTER}", f"{function}.name=compute_score", *arguments]


def as_hydra(value: object) -> str:
    """Return a plain value in Hydra's syntax: JSON without quotation marks."""
    return json.dumps(value).replace('"', "")


def samples(*answers: str, truth: object = COLUMNS, source: str = "taco") -> list[dict[str, Any]]:
    return [{"answer": each, "truth": json.dumps(truth), "source": source} for each in answers]


def scores(verl: Foreign, overrides: list[str], asked: list[dict[str, Any]]) -> list[Any]:
    """Return the scores of verl's worker, or the message of its exception."""
    said = verl.ask({"overrides": overrides, "samples": asked})["samples"]
    return [each.get("score", each.get("raised")) for each in said]


# --- by the route


def test_every_end_of_a_program_has_the_score_that_verl_means(verl: Foreign, service: Service) -> None:
    quick = {name: text for name, text in ANSWERS.items() if name != "late"}
    found = scores(verl, by_route(service.client.url), samples(*quick.values()))
    assert dict(zip(quick, found, strict=True)) == pytest.approx(SCORES)


def test_a_program_that_never_ends_has_failed(verl: Foreign, service: Service) -> None:
    """Each test gets 10 s in verl, whatever the problem says."""
    one = {name: column[:1] for name, column in COLUMNS.items()}
    assert scores(verl, by_route(service.client.url), samples(ANSWERS["late"], truth=one)) == [0.0]


def test_functions_and_assertions_are_scored_by_verl_s_own_wrapper(verl: Foreign, service: Service) -> None:
    calls = {"fn_name": "add", "inputs": ["1\n2", "[1]\n[2]"], "outputs": ["3", "[1, 2]"]}
    asserts = {"assert_case": ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]}
    add = answer("def add(a, b):\n    return a + b")
    asked = [*samples(add, truth=calls), *samples(add, truth=asserts)]
    assert scores(verl, by_route(service.client.url), asked) == [1.0, 0.5]


def test_more_than_there_is_room_for_is_held_and_scored(verl: Foreign) -> None:
    with narrow() as service:
        found = scores(verl, by_route(service.client.url), samples(*[ANSWERS["right"]] * 8))
    assert found == [1.0] * 8


def test_a_slot_that_dies_costs_no_score(verl: Foreign) -> None:
    with bereaved() as url:
        assert scores(verl, by_route(url), samples(answer(NAP + CODE["right"]))) == [1.0]


def test_a_polite_restart_in_the_middle_costs_no_score(verl: Foreign) -> None:
    with restarted(signal.SIGTERM) as url:
        assert scores(verl, by_route(url), samples(answer(SLOW))) == [1.0]


def test_a_crash_in_the_middle_is_a_failed_test_to_verl(verl: Foreign) -> None:
    """The server cannot prevent this: verl retries only on 504. The adapter does better."""
    with restarted(signal.SIGKILL) as url:
        assert scores(verl, by_route(url), samples(answer(SLOW))) == [0.0]


# --- by the adapter


def test_the_adapter_grades_as_a_whole(verl: Foreign, service: Service) -> None:
    found = scores(verl, by_adapter(service.client.url), samples(*ANSWERS.values(), source="anything"))
    assert dict(zip(ANSWERS, found, strict=True)) == {name: float(name == "right") for name in ANSWERS}


def test_the_adapter_can_pay_for_each_test(verl: Foreign, service: Service) -> None:
    options = by_adapter(service.client.url, reward={"scheme": "fraction"}, stop_on_failure=False)
    assert scores(verl, options, samples(ANSWERS["wrong"])) == [pytest.approx(1 / 3)]


def test_every_sample_logs_the_same_keys(verl: Foreign, service: Service) -> None:
    asked = {"overrides": by_adapter(service.client.url), "samples": samples(*ANSWERS.values())}
    logged = [each["logged"] for each in verl.ask(asked)["samples"]]
    assert {frozenset(each) for each in logged} == {frozenset({"score", "acc"})}


def test_without_a_verdict_the_adapter_raises_for_that_sample_alone(verl: Foreign, service: Service) -> None:
    asked = [*samples(ANSWERS["right"], truth=BAD_TEST), *samples(ANSWERS["right"])]
    said = verl.ask({"overrides": by_adapter(service.client.url), "samples": asked})
    assert said["samples"][0]["raised"].startswith("Fault: 1 of 1 have no verdict")
    assert said["samples"][1]["score"] == 1.0
    assert said["advantages"] == ["nan"] * 3, "verl can use a score that is no number: then say so instead of raising"


def test_a_crash_in_the_middle_costs_the_adapter_nothing(verl: Foreign) -> None:
    with restarted(signal.SIGKILL) as url:
        assert scores(verl, by_adapter(url), samples(answer(SLOW))) == [1.0]
