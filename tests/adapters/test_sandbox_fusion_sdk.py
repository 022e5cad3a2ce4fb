"""SandboxFusion's own SDK, unmodified, against our routes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.foreign import Foreign, opened
from tests.adapters.programs import ANSWERS, CODE, COLUMNS, INPUTS, OUTPUTS, SLOW
from tests.adapters.troubled import bereaved, narrow, restarted
from tests.conftest import Service
from tests.markers import one_in

RUNNING = {"run_timeout": 1, "compile_timeout": 1}
SUMMARIES = {"right": "Success", "wrong": "Success", "late": "RunTimeout", "crashing": "RunFailed", "broken": "Failed"}


@pytest.fixture(scope="module")
def sdk() -> Iterator[Foreign]:
    with opened("sandbox-fusion", "sandbox_fusion_sdk") as running:
        yield running


def programs(*codes: str) -> list[dict[str, Any]]:
    return [{"code": code, "stdin": INPUTS[0], **RUNNING} for code in codes]


def test_every_end_of_a_program_is_what_the_sdk_calls_it(sdk: Foreign, service: Service) -> None:
    said = sdk.ask({"url": service.client.url, "run": programs(*CODE.values())})["run"]
    summaries = {name: each.get("summary", each) for name, each in zip(CODE, said, strict=True)}
    assert summaries == SUMMARIES | {"broken": summaries["broken"]}
    assert summaries["broken"] in ("CompileFailed", "RunFailed")
    assert said[0]["stdout"] == OUTPUTS[0]


def test_the_asynchronous_sdk_is_served_too(sdk: Foreign, service: Service) -> None:
    asked = {"url": service.client.url, "async": programs(CODE["right"], CODE["wrong"])}
    assert sdk.ask(asked)["async"] == ["3\n", "3\n"]


def test_answers_are_judged_by_the_tests_that_came_with_them(sdk: Foreign, service: Service) -> None:
    asked = {"url": service.client.url, "submit": [submission(text) for text in ANSWERS.values()]}
    said = dict(zip(ANSWERS, sdk.ask(asked)["submit"], strict=True))
    assert {name: each.get("accepted", each) for name, each in said.items()} == {
        name: name == "right" for name in ANSWERS
    }
    assert said["right"]["code"].strip() == CODE["right"]
    assert said["wrong"]["passed"] == [True, False, False]


def submission(text: str) -> dict[str, Any]:
    cases = zip(COLUMNS["inputs"], COLUMNS["outputs"], strict=True)
    data = {"test": [{"input": {"stdin": stdin}, "output": {"stdout": stdout}} for stdin, stdout in cases]}
    config = {"dataset_type": "CommonOJDataset", "provided_data": data, "extra": {"run_all_cases": True}, **RUNNING}
    return {"dataset": "any", "id": 7, "completion": text, "config": config}


# --- trouble


def test_more_than_there_is_room_for_is_held_and_answered(sdk: Foreign) -> None:
    with narrow() as service:
        said = sdk.ask({"url": service.client.url, "run": programs(*[CODE["right"]] * 16)})["run"]
    assert [each.get("stdout", each) for each in said] == [OUTPUTS[0]] * 16


@pytest.mark.full
def test_a_slot_that_dies_is_not_heard_of(sdk: Foreign) -> None:
    with bereaved() as url:
        asked = {"code": "import time\ntime.sleep(4)\n" + CODE["right"], "stdin": INPUTS[0], "run_timeout": 8}
        said = sdk.ask({"url": url, "run": [asked] * 2})["run"]
    assert [each.get("stdout", each) for each in said] == [OUTPUTS[0]] * 2


@pytest.mark.parametrize("how", one_in(2, [signal.SIGKILL, signal.SIGTERM]))
def test_a_restart_in_the_middle_is_survived(sdk: Foreign, how: signal.Signals) -> None:
    with restarted(how) as url:
        asked = [{"code": SLOW, "stdin": INPUTS[0], "run_timeout": 5}] * 8
        said = sdk.ask({"url": url, "run": asked})["run"]
    assert [each.get("stdout", each) for each in said] == [OUTPUTS[0]] * 8
