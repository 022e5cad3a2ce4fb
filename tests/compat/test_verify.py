"""`POST /verify`: NeMo Gym's rollouts come back with a reward, or with all marks that they have none."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from sandbox_service.api.compat import verify
from sandbox_service.schema import Verdict
from tests.compat.faulty import BAD_TEST, BROKEN, LATE, answered
from tests.compat.programs import FUNCTIONS, INPUTS, OUTPUTS, STREAMS, fenced
from tests.conftest import Service

STREAM_TESTS = {"inputs": INPUTS, "outputs": OUTPUTS}
CALL_TESTS = {"inputs": ["1\n2", "10\n20"], "outputs": ["3", "30"], "fn_name": "add"}


def rollout(text: str | None, tests: object = STREAM_TESTS) -> dict[str, Any]:
    """Return a request as NeMo Gym's agents send it."""
    thought = {
        "type": "reasoning",
        "id": "r",
        "summary": [{"type": "summary_text", "text": "```python\nprint(0)\n```"}],
    }
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "add"}]},
        "response": {"id": "x", "object": "response", "output": [thought] + ([said] if text is not None else [])},
        "verifier_metadata": {"unit_tests": tests, "difficulty": "easy"},
        "_ng_task_index": 3,
    }


def verified(service: Service, body: dict[str, Any]) -> dict[str, Any]:
    status, answer = service.client.post("/verify", body)
    assert status == 200, answer
    assert body.items() <= answer.items(), "what was asked comes back"
    assert isinstance(answer["reward"], float)
    assert (answer["mask_sample"], answer["failure_kind"], answer["failure_reason"]) == (False, None, None)
    assert answer["difficulty"] == "easy"
    found: dict[str, Any] = answer
    return found


@pytest.mark.parametrize(
    ("programs", "tests", "name", "reward", "result", "code"),
    [
        (STREAMS, STREAM_TESTS, "right", 1.0, [True, True, True], None),
        (STREAMS, STREAM_TESTS, "wrong", 0.0, [True, -2], -2),
        (STREAMS, STREAM_TESTS, "crashing", 0.0, [-4], -4),
        (STREAMS, STREAM_TESTS, "broken", 0.0, [-4], -4),
        (FUNCTIONS, CALL_TESTS, "right", 1.0, [True, True], None),
        (FUNCTIONS, CALL_TESTS, "wrong", 0.0, [True, -2], -2),
        (FUNCTIONS, CALL_TESTS, "equal to all", 0.0, [-4], -4),
        (FUNCTIONS, CALL_TESTS, "gone", 0.0, [-4], -4),
    ],
)
def test_every_end_is_told(
    service: Service,
    programs: dict[str, str],
    tests: object,
    name: str,
    reward: float,
    result: object,
    code: int | None,
) -> None:
    answer = verified(service, rollout(fenced(programs[name]), tests))
    assert (answer["reward"], answer["result"]) == (reward, result)
    assert answer["extracted_model_code"] == programs[name]
    assert answer["extracted_model_output"] == fenced(programs[name])
    assert answer["metadata"].get("error_code") == code
    assert answer["unit_tests_time_taken"] > 0


def test_what_is_too_slow() -> None:
    """The real limit of ten seconds is too long for a test."""
    assert verify.CPU_SECONDS == 10
    assert verify.CODES[Verdict.TLE][0] == -3


def test_tests_may_name_a_language(service: Service) -> None:
    code = "```lua\nprint(io.read('n') + 1)\n```"
    tests = {"inputs": ["1"], "outputs": ["2"], "language": "lua"}
    assert verified(service, rollout(code, tests))["reward"] == 1.0
    status, answer = service.client.post("/verify", rollout(code, tests | {"language": "cobol"}))
    assert (status, "cobol" in answer["error"]["message"]) == (422, True)
    status, answer = service.client.post("/verify", rollout(code, tests | {"language": 3}))
    assert (status, "language should be text" in answer["error"]["message"]) == (422, True)


def test_packed_tests(service: Service) -> None:
    packed = base64.b64encode(zlib.compress(json.dumps(STREAM_TESTS).encode())).decode()
    assert verified(service, rollout(fenced(STREAMS["right"]), {"packed": packed, "fn_name": None}))["reward"] == 1.0
    assert verified(service, rollout(fenced(STREAMS["wrong"]), {"packed": packed}))["reward"] == 0.0


@pytest.mark.parametrize("text", [None, "", "no code", "```python\nprint(3)", "<think>\n```python\nprint(3)\n```"])
def test_no_program_is_no_reward(service: Service, text: str | None) -> None:
    answer = verified(service, rollout(text))
    assert (answer["reward"], answer["extracted_model_code"], answer["result"]) == (0.0, None, None)
    assert answer["extracted_model_output"] == (text or None)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (None, "should be an object"),
        ({}, "'inputs'"),
        ({"inputs": ["1"]}, "'outputs'"),
        ({"inputs": [], "outputs": []}, "no tests"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs but 0 outputs"),
        ({"inputs": 3, "outputs": 3}, "should be a list"),
        ({"inputs": ["x"], "outputs": ["1"], "fn_name": "f"}, "not JSON"),
        ({"packed": "x"}, "base 64"),
        ({"packed": base64.b64encode(zlib.compress(b"[" * 100_000)).decode()}, "unit_tests"),
        ({"packed": base64.b64encode(zlib.compress(b"[]")).decode()}, "unit_tests"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_bad_tests_are_refused(service: Service, tests: object, words: str) -> None:
    status, answer = service.client.post("/verify", rollout(fenced(STREAMS["right"]), tests))
    assert status == 422, answer
    assert words in answer["error"]["message"]


def test_a_bomb_is_refused(service: Service) -> None:
    packed = base64.b64encode(zlib.compress(b" " * 200_000_000, 1)).decode()
    status, answer = service.client.post("/verify", rollout(fenced(STREAMS["right"]), {"packed": packed}))
    assert (status, "more than" in answer["error"]["message"]) == (422, True)


REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
THOUGHT = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": fenced(STREAMS["right"])}]}


@pytest.mark.parametrize("items", [[], [REFUSAL], [THOUGHT], [{"type": "function_call", "name": "f"}]])
def test_responses_without_text_have_no_program(service: Service, items: list[Any]) -> None:
    answer = verified(service, rollout("") | {"response": {"output": items}})
    assert (answer["reward"], answer["extracted_model_output"]) == (0.0, None)


ODD = [
    ({}, "response.output should be a list"),
    ({"output": None}, "response.output should be a list"),
    ({"output": "text"}, "response.output should be a list"),
    ({"output": [3]}, "response.output should be a list of objects"),
    ({"output": [{"type": "message"}]}, "response.output[0].content should be a list"),
    ({"output": [{"type": "message", "content": "print(3)"}]}, "response.output[0].content should be a list"),
    ({"output": [{"type": "message", "content": [{"type": "output_text"}]}]}, "a part should be an output_text"),
    ({"output": [{"type": "message", "content": [{"type": "text", "text": "x"}]}]}, "a part should be an output_text"),
    (
        {"output": [{"type": "function_call"}, {"type": "tool", "content": [{}]}]},
        "response.output[1].type should be message",
    ),
    ({"output": [{"role": "assistant", "content": [{}]}]}, "response.output[0].type is missing"),
    ({"output": [{}]}, "response.output[0].type is missing"),
]


@pytest.mark.parametrize(("response", "words"), ODD)
def test_an_odd_response_is_refused(service: Service, response: dict[str, Any], words: str) -> None:
    """With a reward of 0 it would look like a wrong answer."""
    status, answer = service.client.post("/verify", rollout("") | {"response": response})
    assert status == 422
    assert words in answer["error"]["message"]


@pytest.mark.parametrize(
    ("comes_to", "kind"),
    [(BROKEN, "proctor:jail_died"), (LATE, "proctor:unavailable"), (BAD_TEST, "proctor:bad_test")],
)
def test_a_fault_has_every_sign_of_one(monkeypatch: pytest.MonkeyPatch, comes_to: Any, kind: str) -> None:
    body = rollout(fenced(STREAMS["right"]))
    status, answer = answered(monkeypatch, verify.routes, "/verify", body, comes_to)
    assert status == 200
    assert body.items() <= answer.items()
    assert (answer["reward"], answer["mask_sample"], answer["failure_kind"]) == (0.0, True, kind)
    assert answer["failure_reason"] == answer["_ng_failure_judge_error"] != ""
    assert answer["instance_config"] == {"mask_sample": True}
    assert answer["_ng_failure_class"] == "judge_failed"
    assert answer["extracted_model_code"] == STREAMS["right"]


def test_odd_numbers_come_back_as_they_came(service: Service) -> None:
    body = rollout("") | {"response": {"output": [], "logprobs": [-1.5, float("-inf")], "huge": 2**70}}
    answer = verified(service, body)
    assert answer["response"] == body["response"]


@pytest.mark.parametrize("path", ["/seed_session", "/close_session"])
def test_sessions_are_not_kept(service: Service, path: str) -> None:
    assert service.client.post(path, rollout("")) == (200, {})
    assert service.client.post(path, {}) == (200, {})
    named = {"resources_session_id": "s", "episode_id": "e", "task_id": "t", "task_data": {}}
    assert service.client.post(path, named) == (200, {"resources_session_id": "s"})


def test_metrics_leave_out_what_means_nothing(service: Service) -> None:
    rewards = [{"reward": 1.0}, {"reward": 0.0, "mask_sample": False}, {"reward": 0.0, "mask_sample": True}, {}]
    status, answer = service.client.post("/aggregate_metrics", {"verify_responses": rewards})
    assert (status, answer["key_metrics"], answer["group_level_metrics"]) == (200, {"mean/reward": 0.5}, [])
    assert answer["agent_metrics"] == {"mean/reward": 0.5, "masked": 2}
    assert service.client.post("/aggregate_metrics", {"verify_responses": []})[1]["key_metrics"] == {}


def test_rollouts_may_be_graded_again(service: Service) -> None:
    assert service.client.get("/reverify_mode") == (200, "stateless")
