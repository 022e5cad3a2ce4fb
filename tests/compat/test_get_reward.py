"""`POST /get_reward` of OpenRLHF: rewards of answers that follow their prompts."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest

from sandbox_service.api.compat import get_reward
from sandbox_service.errors import UnavailableError
from sandbox_service.schema import Grade
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import ASSERTIONS, CALLS, FUNCTIONS, INPUTS, OUTPUTS, RESULTS, STREAMS, fenced
from tests.conftest import Service

PROMPT = "<|im_start|>user\nAdd two numbers. Like so:\n```python\nprint(3)\n```<|im_end|>\n<|im_start|>assistant\n"
LIMITS = {"cpu_seconds": 1}
STREAM_LABEL = json.dumps({"inputs": INPUTS, "outputs": OUTPUTS, "limits": LIMITS})
CALL_LABEL = json.dumps({"inputs": CALLS, "outputs": RESULTS, "fn_name": "add", "limits": LIMITS})
OURS = {"tests": [{"type": "stdin", "input": "1 2", "output": "3"}], "limits": LIMITS}


def asked(*answers: str, label: Any = STREAM_LABEL, prompt: str = PROMPT, end: str = "<|im_end|>\n") -> dict[str, Any]:
    count = len(answers)
    return {
        "query": [prompt + answer + end for answer in answers],
        "prompts": [prompt] * count,
        "labels": [label] * count,
    }


def rewarded(service: Service, body: dict[str, Any], query: str = "") -> Any:
    status, answer = service.client.post("/get_reward" + query, body)
    return answer if status == 200 else (status, answer["error"]["message"])


@pytest.mark.parametrize(("programs", "label"), [(STREAMS, STREAM_LABEL), (FUNCTIONS, CALL_LABEL)])
def test_each_is_given_what_it_deserves(service: Service, programs: dict[str, str], label: str) -> None:
    wanted = [float(name == "right") for name in programs]
    answer = rewarded(service, asked(*map(fenced, programs.values()), label=label))
    assert answer["rewards"] == answer["scores"] == answer["extra_logs"]["accepted"] == wanted
    assert answer["extra_logs"]["too_slow"] == [float(name == "slow") for name in programs]
    assert answer["extra_logs"]["no_program"] == [float(name == "broken") for name in programs]


def test_a_sample_alone_as_openrlhf_sends_it(service: Service) -> None:
    assert rewarded(service, asked(fenced(STREAMS["right"])))["rewards"] == [1.0]


def test_nothing_has_no_rewards(service: Service) -> None:
    bodies: list[dict[str, Any]] = [{"query": [], "prompts": [], "labels": []}, {"query": []}]
    for body in bodies:
        assert rewarded(service, body) == {"rewards": [], "scores": [], "extra_logs": {}}


def test_the_program_in_the_prompt_is_no_answer(service: Service) -> None:
    prompt = PROMPT.replace("print(3)", STREAMS["right"])
    for answer in ("I do not know.", "", "```python\nunfinished"):
        assert rewarded(service, asked(answer, prompt=prompt))["rewards"] == [0.0]
    status, message = rewarded(service, asked("x", prompt=prompt) | {"prompts": ["something else"], "query": ["y"]})
    assert status == 422
    assert "does not begin with the prompt" in message


def test_a_thought_that_the_prompt_opens_is_no_answer(service: Service) -> None:
    unfinished = f"Perhaps\n```python\n{STREAMS['right']}\n```\nor"
    assert rewarded(service, asked(unfinished, prompt=PROMPT + "<think>\n"))["rewards"] == [0.0]
    finished = f"{unfinished}\n</think>\n```python\n{STREAMS['right']}\n```"
    assert rewarded(service, asked(finished, prompt=PROMPT + "<think>\n"))["rewards"] == [1.0]


@pytest.mark.parametrize(
    "label",
    [
        OURS,
        json.dumps(OURS),
        json.dumps({"ground_truth": json.dumps(OURS)}),
        {"inputs": INPUTS, "outputs": OUTPUTS},
        json.dumps([{"input": INPUTS[0], "output": OUTPUTS[0]}]),
    ],
)
def test_labels_of_every_shape(service: Service, label: Any) -> None:
    right, wrong = fenced(STREAMS["right"]), fenced("print(4)")
    assert rewarded(service, asked(right, wrong, label=label))["rewards"] == [1.0, 0.0]


def test_assertions_are_a_label(service: Service) -> None:
    right, wrong = fenced(FUNCTIONS["right"]), fenced(FUNCTIONS["wrong"])
    assert rewarded(service, asked(right, wrong, label="\n".join(ASSERTIONS)))["rewards"] == [1.0, 0.0]


def test_a_suite_is_a_label(service: Service) -> None:
    suite = json.dumps({"tests": OURS["tests"]}).encode()
    status, stored = service.client.request("PUT", f"/v1/suites/{hashlib.sha256(suite).hexdigest()}", suite)
    assert status in (200, 201)
    name = json.loads(stored)["id"]
    assert rewarded(service, asked(fenced(STREAMS["right"]), label=name))["rewards"] == [1.0]
    status, message = rewarded(service, asked("x", label="sha256:" + "0" * 64))
    assert (status, "not known here" in message) == (409, True)


def test_a_label_may_say_how_to_reward(service: Service) -> None:
    label = json.loads(STREAM_LABEL) | {
        "reward": {"scheme": "values", "no_format": -1.1, "failed": 0.1, "passed": 1.1},
        "extraction": "answer_tag",
    }
    answer = rewarded(service, asked(f"<answer>{STREAMS['right']}</answer>", "<answer>1</answer>", "no", label=label))
    assert answer["rewards"] == [1.1, 0.1, -1.1]
    assert answer["scores"] == [1.0, 0.1, 0.0]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "query"),
        ({"query": "x"}, "query"),
        ({"query": [None], "prompts": [""], "labels": [OURS]}, "query[0]"),
        ({"query": ["x"], "prompts": ["x", "y"], "labels": [OURS]}, "same length: 1 of query, 2 of prompts"),
        ({"query": ["x"], "prompts": ["x"]}, "0 of labels"),
        (asked("x", label=None), "labels.0"),
        (asked("x", label=""), "labels.0"),
        (asked("x", label=42), "labels.0"),
        (asked("x", label={}), "labels.0"),
        (asked("x", label=[]), "labels.0"),
        (asked("x", label="the answer is 42"), "labels.0"),
        (asked("x", label={"tests": []}), "labels.0"),
        (asked("x", label='{"inputs": ["\\ud800"], "outputs": ["1"]}'), "labels.0"),
        (asked("x", label="[" * 1000), "labels.0"),
        (asked("x", label={"inputs": ["1"], "outputs": [{"a": 1}]}), "labels.0"),
        (asked("x", label={"tests": [{"type": "stdin"}]}), "output"),
        (asked("x", label=OURS | {"language": "cobol"}), "cobol"),
        (asked("x", label=OURS | {"limits": {"cpu_seconds": 1e6}}), "cpu_seconds"),
        (asked(fenced("x = 1"), label={"assert_case": "assert x =="}), "bad_test"),
    ],
)
def test_what_cannot_be_graded_is_refused_by_name(service: Service, body: dict[str, Any], named: str) -> None:
    status, message = rewarded(service, body)
    assert status == 422
    assert named in message


def test_one_wrong_label_is_named_before_anything_is_graded(service: Service) -> None:
    body = asked(fenced(STREAMS["right"]), fenced(STREAMS["right"])) | {"labels": [STREAM_LABEL, "?"]}
    status, message = rewarded(service, body)
    assert (status, message.partition(":")[0]) == (422, "labels.1")


# --- many, and trouble


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_is_503(comes_to: Grade | UnavailableError, monkeypatch: pytest.MonkeyPatch) -> None:
    status, answer = answered(monkeypatch, get_reward.routes, "/get_reward", asked("x"), comes_to)
    assert (status, "rewards" in answer) == (503, False)


def test_a_fault_is_nan_if_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    status, answer = answered(monkeypatch, get_reward.routes, "/get_reward", asked("x"), BROKEN, query=b"fault=nan")
    assert status == 200
    assert all(map(math.isnan, answer["rewards"] + answer["scores"]))
    assert answer["extra_logs"]["faults"] == [1.0]
