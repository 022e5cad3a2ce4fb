"""`POST /verify` as a resources server of NeMo Gym answers it: the one that grades competitive programs (`code_gen`).

Asked: `{responses_create_params, response, verifier_metadata: {unit_tests: {inputs, outputs, fn_name?}}}`, where
`response` is an object of OpenAI's Responses API and unit tests are in LiveCodeBench's form, or `{packed, fn_name?}`.
Answered: the same, and `reward`, `extracted_model_output`, `extracted_model_code`, `result` (true, or -2 wrong, -3 too
slow, -4 failed: of the first that was not passed, and none after it), `metadata` and `unit_tests_time_taken`.

A fault of ours is 200, because `reward` must be a number and an error ends the whole collection of rollouts: 0.0 with
all the signs by which this number is known to mean nothing. The newest core looks at `mask_sample`, NeMo RL at the
same below `instance_config`, and every collection since 0.4 puts an answer with `_ng_failure_class` aside, to be tried
again. A trainer that looks at none of them learns from the 0.0.

What is otherwise than there: a test may take ten seconds of CPU time, not of the clock; numbers of a line are equal,
not near; of a call's results both are compared as plain values; code is the last block that is Python's, and a block
that never ends is none; thoughts that stand in the answer are skipped, not punished.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from sandbox_service import cases, unpacking
from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.documents import refuses, takes
from sandbox_service.errors import BadRequest, Unavailable
from sandbox_service.judging.extraction import extract
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, TestCase, TestResult, Verdict
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 600.0  # the client has no time limit of its own
CPU_SECONDS = 10.0
CODES: Mapping[Verdict, tuple[int, str]] = {
    Verdict.WA: (-2, "Wrong Answer"),
    Verdict.TLE: (-3, "Time Limit Exceeded"),
}
RUNTIME_ERROR = (-4, "Runtime Error")


class Rollout(BaseModel):
    """A rollout. What else it says comes back with the answer."""

    model_config = ConfigDict(extra="allow")

    response: dict[str, Any]
    verifier_metadata: dict[str, Any] | None = None


class Session(BaseModel):
    """An episode. Those who give it a name want to hear it again."""

    resources_session_id: str | None = None


class Rollouts(BaseModel):
    """What was answered before."""

    verify_responses: list[dict[str, Any]]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /verify`, `/seed_session`, `/close_session` and `/aggregate_metrics`, `GET /reverify_mode`."""
    router = APIRouter(tags=["NeMo Gym"])
    desk = Desk(queue, settings, "verify")

    @router.post(
        "/verify",
        openapi_extra=takes(Rollout),
        responses=refuses(),
        summary="Grade a rollout, as NeMo Gym's code_gen does",
    )
    async def verify(request: Request) -> Response:
        asked = await desk.read(request, Rollout)
        answer = asked.model_dump() | await _graded(desk, request, asked, settings.max_body_bytes)
        return Response(json.dumps(answer), media_type="application/json")  # NaN and Infinity come back as they came

    @router.post("/seed_session", openapi_extra=takes(Session), responses=refuses(), summary="Nothing is kept")
    @router.post("/close_session", openapi_extra=takes(Session), responses=refuses(), summary="Nothing is kept")
    async def session(request: Request) -> dict[str, Any]:
        return (await desk.read(request, Session)).model_dump(exclude_none=True)

    @router.post(
        "/aggregate_metrics",
        openapi_extra=takes(Rollouts),
        responses=refuses(),
        summary="The mean of the rewards that mean something",
    )
    async def aggregate_metrics(request: Request) -> dict[str, Any]:
        return _metrics(await desk.read(request, Rollouts))

    @router.get("/reverify_mode", summary="Rollouts may be graded again")
    async def reverify_mode() -> str:
        return "stateless"

    return router


async def _graded(desk: Desk, request: Request, asked: Rollout, most_bytes: int) -> dict[str, Any]:
    tests = await asyncio.to_thread(_tests, asked.verifier_metadata or {}, most_bytes)  # it may take a second
    text = output_text(asked.response)
    code = extract(text, "last_block", "python")
    answer = _answer(text or None, code, asked.verifier_metadata or {})
    if code is None:
        return answer
    fields = {
        "code": code,
        "tests": tests,
        "checker": {"type": "lcb"},
        "limits": {"cpu_seconds": CPU_SECONDS},
    }
    try:
        return answer | told(await desk.grade(request, fields, PATIENCE_SECONDS))
    except Unavailable as error:
        return answer | fault("unavailable", str(error))


def output_text(response: Mapping[str, Any]) -> str:
    """What the model said, without its thoughts and its calls of tools."""
    said = []
    for item in _objects(response.get("output")):
        if item.get("type") == "message":
            said += [part.get("text") for part in _objects(item.get("content")) if part.get("type") == "output_text"]
    return "".join(text for text in said if isinstance(text, str))


def _objects(found: Any) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _tests(metadata: Mapping[str, Any], most_bytes: int) -> list[TestCase]:
    """Raises BadRequest."""
    given = metadata.get("unit_tests")
    if not isinstance(given, dict):
        raise BadRequest("verifier_metadata.unit_tests should be an object with inputs and outputs")
    try:
        columns = json.loads(unpacking.unpacked(given["packed"], most_bytes)) if "packed" in given else given
        return _cases(columns["inputs"], columns["outputs"], str(given.get("fn_name") or ""))
    except KeyError as error:
        raise BadRequest(f"verifier_metadata.unit_tests: there are no {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRequest(f"verifier_metadata.unit_tests: {error}") from None


def _cases(inputs: list[Any], outputs: list[Any], function: str) -> list[TestCase]:
    """Of a call, both are JSON as text, the arguments a line each."""
    kind = "functional" if function else "stdin"
    pairs = zip(inputs, outputs, strict=True)
    return cases.records([{"input": given, "output": wanted, "type": kind} for given, wanted in pairs], function)


def _answer(text: str | None, code: str | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """That of a program that was not graded."""
    return {
        "reward": 0.0,
        "mask_sample": False,
        "failure_kind": None,
        "failure_reason": None,
        "extracted_model_output": text,
        "extracted_model_code": code,
        "result": None,
        "metadata": None,
        "unit_tests_time_taken": None,
        "difficulty": metadata.get("difficulty"),
    }


def told(grade: Grade) -> dict[str, Any]:
    """What a grade changes in an answer."""
    if grade.reward is None:
        return fault(grade.failure_kind or "unknown", grade.failure_reason or "")
    seconds = sum(result.cpu_seconds for result in grade.tests)
    failed = next((result for result in grade.tests if result.verdict != Verdict.AC), None)
    return {
        "reward": grade.reward,
        "result": [_result(result) for result in grade.tests],
        "metadata": {"execution time": seconds} if failed is None else _metadata(failed),
        "unit_tests_time_taken": grade.timing.graded_seconds,
    }


def _result(result: TestResult) -> bool | int:
    return True if result.verdict == Verdict.AC else CODES.get(result.verdict, RUNTIME_ERROR)[0]


def _metadata(failed: TestResult) -> dict[str, Any]:
    code, message = CODES.get(failed.verdict, RUNTIME_ERROR)
    return {"error_code": code, "error_message": message, "error": failed.message, "output": failed.stdout}


def fault(kind: str, reason: str) -> dict[str, Any]:
    """What our own fault changes in an answer. The kind has our name before it, as those do that are not Gym's."""
    return {
        "reward": 0.0,
        "mask_sample": True,
        "failure_kind": f"proctor:{kind}",
        "failure_reason": reason,
        "instance_config": {"mask_sample": True},
        "_ng_failure_class": "judge_failed",
        "_ng_failure_judge_error": reason,
    }


def _metrics(rewards: Rollouts) -> dict[str, Any]:
    counted = [each["reward"] for each in rewards.verify_responses if _counts(each)]
    mean = {"mean/reward": sum(counted) / len(counted)} if counted else {}
    metrics = {**mean, "masked": len(rewards.verify_responses) - len(counted)}
    return {"group_level_metrics": [], "agent_metrics": metrics, "key_metrics": mean}


def _counts(response: Mapping[str, Any]) -> bool:
    return isinstance(response.get("reward"), (int, float)) and not response.get("mask_sample")
