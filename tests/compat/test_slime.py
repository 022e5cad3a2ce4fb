"""`POST /slime`: a bare number for an answer and its label."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_service.api.compat import slime
from sandbox_service.errors import UnavailableError
from sandbox_service.schema import Grade
from tests.compat.faulty import BROKEN, LATE, answered
from tests.compat.programs import CALLS, FUNCTIONS, INPUTS, OUTPUTS, RESULTS, STREAMS, fenced
from tests.conftest import Service

LIMITS = {"cpu_seconds": 1}
STREAM_LABEL = {"inputs": INPUTS, "outputs": OUTPUTS, "limits": LIMITS}
CALL_LABEL = {"inputs": CALLS, "outputs": RESULTS, "fn_name": "add", "limits": LIMITS}


def body(response: str, label: Any = STREAM_LABEL, prompt: Any = "Add.") -> dict[str, Any]:
    return {"prompt": prompt, "response": response, "label": label}


def reward(service: Service, asked: dict[str, Any], query: str = "") -> Any:
    status, answer = service.client.post("/slime" + query, asked)
    return answer if status == 200 else (status, answer["error"]["message"])


@pytest.mark.parametrize(("programs", "label"), [(STREAMS, STREAM_LABEL), (FUNCTIONS, CALL_LABEL)])
def test_each_is_given_what_it_deserves(service: Service, programs: dict[str, str], label: dict[str, Any]) -> None:
    for name, code in programs.items():
        assert reward(service, body(fenced(code), label)) == float(name == "right"), name


def test_labels_and_prompts_of_every_shape(service: Service) -> None:
    right = fenced(STREAMS["right"])
    for label in (STREAM_LABEL, json.dumps(STREAM_LABEL), json.dumps({"ground_truth": STREAM_LABEL})):
        for prompt in ("Add.", [{"role": "user", "content": "Add."}], None):
            assert reward(service, body(right, label, prompt)) == 1.0
    assert reward(service, {"response": right, "label": STREAM_LABEL, "metadata": {}}) == 1.0


def test_the_end_of_a_turn_and_an_open_thought_are_known(service: Service) -> None:
    right = f"```python\n{STREAMS['right']}\n```"
    assert reward(service, body(right + "<|im_end|>")) == 1.0
    assert reward(service, body(right, prompt="Add.<think>\n")) == 0.0
    assert reward(service, body(f"hm</think>{right}", prompt="Add.<think>\n")) == 1.0


def test_details_are_an_object(service: Service) -> None:
    wrong = {**STREAM_LABEL, "reward": {"scheme": "fraction"}, "stop_on_failure": False}
    found = reward(service, body(fenced(STREAMS["wrong"]), wrong), "?detail=1")
    assert found["reward"] == pytest.approx(2 / 3)
    assert (found["accepted"], found["verdict"], found["passed"], found["total"]) == (False, "WA", 2, 3)
    assert "expected '30'" in found["message"]


@pytest.mark.parametrize(
    ("asked", "query", "named"),
    [
        ({}, "", "response"),
        ({"response": "x"}, "", "label"),
        (body("x", None), "", "label"),
        (body("x", "42"), "", "label"),
        (body("x", {"answer": 42}), "", "label"),
        (body("x", prompt=3), "", "prompt"),
        (body("x") | {"response": None}, "", "response"),
        (body("x"), "?detail=perhaps", "detail"),
        (body(fenced("x = 1"), "assert x =="), "", "bad_test"),
    ],
)
def test_what_cannot_be_graded_is_refused_by_name(
    service: Service, asked: dict[str, Any], query: str, named: str
) -> None:
    status, message = reward(service, asked, query)
    assert status == 422
    assert named in message


@pytest.mark.parametrize("comes_to", [BROKEN, LATE])
def test_a_fault_is_503(comes_to: Grade | UnavailableError, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, slime.routes, "/slime", body("x"), comes_to)[0] == 503
