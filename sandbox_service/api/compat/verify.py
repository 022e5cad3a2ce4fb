"""`POST /verify` of NeMo Gym's resources server for competitive programming (`code_gen`).

Request: `{responses_create_params, response, verifier_metadata: {unit_tests: {inputs, outputs, fn_name?}}}`, where
`response` is an object of OpenAI's Responses API. Unit tests are in LiveCodeBench's form, or `{packed, fn_name?}`.
Response: the same object with `reward`, `extracted_model_output`, `extracted_model_code`, `result` (true, or -2 wrong,
-3 too slow, -4 failed; the list ends at the first failed test), `metadata` and `unit_tests_time_taken`.

A fault of the service is 200 with the reward 0.0, because `reward` must be a number and an error ends the whole
collection of rollouts. All known marks say that this 0.0 has no meaning: the newest core reads `mask_sample`, NeMo RL
reads it below `instance_config`, and every collection since 0.4 retries an answer with `_ng_failure_class`. A trainer
that reads none of them learns from the 0.0.

Differences: a test may take ten seconds of CPU time, not wall time; numbers in a line must be equal, not close; the
results of calls are compared as plain values; the code is the last Python block, and an unclosed block is none;
thoughts in the answer are skipped, not punished.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from sandbox_service.api import json_bounds
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.row_fields import text
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.api.request_body import SMALL_PARTS, LargeBodyError, max_unpacked_bytes, reads_small_only
from sandbox_service.errors import BadRequestError, UnavailableError
from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases, unpacking
from sandbox_service.judging.extraction import extract
from sandbox_service.languages import find
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, TestCase, TestResult, Verdict
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 600.0  # the client has no time limit
CPU_SECONDS = 10.0
CODES: Mapping[Verdict, tuple[int, str]] = {
    Verdict.WA: (-2, "Wrong Answer"),
    Verdict.TLE: (-3, "Time Limit Exceeded"),
}
RUNTIME_ERROR = (-4, "Runtime Error")


class Rollout(BaseModel):
    """A rollout. Its other fields are returned unchanged."""

    model_config = ConfigDict(extra="allow")

    response: dict[str, Any]
    verifier_metadata: dict[str, Any] | None = None


class Session(BaseModel):
    """An episode. Its id is returned unchanged."""

    resources_session_id: str | None = None


class Rollouts(BaseModel):
    """Responses of earlier requests."""

    verify_responses: Annotated[list[dict[str, Any]], Field(fail_fast=True)]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /verify`, `/seed_session`, `/close_session` and `/aggregate_metrics`, and `GET /reverify_mode`."""
    router = APIRouter(tags=["NeMo Gym"])
    grading = HeldGrading(queue, settings, "verify")

    @router.post(
        "/verify",
        openapi_extra=request_schema(Rollout),
        responses=compat_error_schemas(),
        summary="Grade a rollout (NeMo Gym's code_gen)",
    )
    async def verify(request: Request) -> Response:
        payload = await grading.read(request, Rollout)
        answer = payload.model_dump() | await _graded(grading, request, payload, settings.max_body_bytes)
        return Response(json.dumps(answer), media_type="application/json")  # returns NaN and Infinity unchanged

    @router.post(
        "/seed_session",
        openapi_extra=request_schema(Session),
        responses=compat_error_schemas(),
        summary="Returns the session's id; no state is kept",
    )
    @router.post(
        "/close_session",
        openapi_extra=request_schema(Session),
        responses=compat_error_schemas(),
        summary="Returns the session's id; no state is kept",
    )
    async def session(request: Request) -> dict[str, Any]:
        return (await grading.read(request, Session)).model_dump(exclude_none=True)

    @router.post(
        "/aggregate_metrics",
        openapi_extra=request_schema(Rollouts),
        responses=compat_error_schemas(),
        summary="Mean of the rewards that are not masked",
    )
    async def aggregate_metrics(request: Request) -> dict[str, Any]:
        return _metrics(await grading.read(request, Rollouts))

    @router.get("/reverify_mode", summary="Declares that rollouts may be graded again")
    async def reverify_mode() -> str:
        return "stateless"

    return router


async def _graded(grading: HeldGrading, request: Request, payload: Rollout, most_bytes: int) -> dict[str, Any]:
    text = output_text(payload.response)
    most = max_unpacked_bytes(request, most_bytes)
    try:
        tests = await asyncio.to_thread(_tests, payload.verifier_metadata or {}, most, most_bytes)
    except unpacking.TooLargeError as error:
        if reads_small_only(request):
            raise LargeBodyError from None
        raise BadRequestError(f"verifier_metadata.unit_tests: {error}") from None
    language = _language(payload.verifier_metadata or {})
    code = extract(text, "last_block", language)
    answer = _answer(text or None, code, payload.verifier_metadata or {})
    if code is None:
        return answer
    fields = {
        "code": code,
        "language": language,
        "tests": tests,
        "checker": {"type": "lcb"},
        "limits": {"cpu_seconds": CPU_SECONDS},
    }
    try:
        return answer | answer_fields(await grading.grade(request, fields, PATIENCE_SECONDS))
    except UnavailableError as error:
        return answer | fault("unavailable", str(error))


def output_text(response: Mapping[str, Any]) -> str:
    """Return the text of the model's messages in a response, without thoughts and tool calls.

    Raises:
        BadRequestError: It does not have the form of a response. With reward 0 it would look like a wrong answer.
    """
    texts = []
    for index, item in enumerate(_objects(response.get("output"), "response.output")):
        where = f"response.output[{index}]"
        if item.get("type") == "message":
            parts = _objects(item.get("content"), f"{where}.content")
            texts += [_text(part, f"{where}.content") for part in parts]
        elif not isinstance(item.get("type"), str):
            raise BadRequestError(f"{where}.type is missing: it should be text, such as message")
        elif item.get("content") and item.get("type") != "reasoning":
            raise BadRequestError(f"{where}.type should be message: the item has a content")
    return "".join(texts)


def _objects(found: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise BadRequestError(f"{where} should be a list of objects, as in OpenAI's Responses API")
    return found


def _text(part: Mapping[str, Any], where: str) -> str:
    """Return the text of a part of a message; none of a refusal. Raise BadRequestError for another kind of part."""
    if part.get("type") == "refusal":
        return ""
    text = part.get("text")
    if part.get("type") != "output_text" or not isinstance(text, str):
        raise BadRequestError(f"{where}: a part should be an output_text with its text, or a refusal")
    return text


def _tests(metadata: Mapping[str, Any], max_unpacked_bytes: int, most_bytes: int) -> list[TestCase]:
    """Return the tests. Raise BadRequestError or TooLargeError."""
    given = metadata.get("unit_tests")
    if not isinstance(given, dict):
        raise BadRequestError("verifier_metadata.unit_tests should be an object with inputs and outputs")
    try:
        columns = _columns(given["packed"], max_unpacked_bytes, most_bytes) if "packed" in given else given
        return _cases(columns["inputs"], columns["outputs"], text(given, "fn_name"))
    except unpacking.TooLargeError:
        raise
    except KeyError as error:
        raise BadRequestError(f"verifier_metadata.unit_tests: {error} is missing") from None
    except (BadRequestError, ValueError, TypeError, RecursionError) as error:
        raise BadRequestError(f"verifier_metadata.unit_tests: {error}") from None


def _language(metadata: Mapping[str, Any]) -> str:
    """Return the language that the tests name, as labels do elsewhere; Python if they name none.

    Raises:
        BadRequestError: It is none that is run here.
    """
    try:
        return find(text(metadata["unit_tests"], "language") or "python").name
    except ValueError as error:
        raise BadRequestError(f"verifier_metadata.unit_tests: {error}") from None


def _columns(packed: Any, max_unpacked_bytes: int, most_bytes: int) -> Any:
    """Return the unpacked columns. Raise ValueError, or TooLargeError if the event loop should not parse them."""
    found = unpacking.unpacked(packed, max_unpacked_bytes)
    if max_unpacked_bytes < most_bytes and json_bounds.parts(found) > SMALL_PARTS:
        raise unpacking.TooLargeError("too many values")
    return json_bounds.parse(found, most_bytes)


def _cases(inputs: list[Any], outputs: list[Any], function: str) -> list[TestCase]:
    """Return the tests. For a function, inputs and outputs are JSON text, with an argument per line."""
    kind = "functional" if function else "stdin"
    for name, column in (("inputs", inputs), ("outputs", outputs)):
        if not isinstance(column, list):
            raise ValueError(f"{name} should be a list, but is {kind_of(column)}")
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs but {len(outputs)} outputs")
    pairs = zip(inputs, outputs, strict=True)
    return cases.records([{"input": given, "output": wanted, "type": kind} for given, wanted in pairs], function)


def _answer(text: str | None, code: str | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response fields of a program that was not graded."""
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


def answer_fields(grade: Grade) -> dict[str, Any]:
    """Return the response fields that a grade sets."""
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
    """Return the response fields for a fault of this kind, with its reason. Gym wants a prefix before foreign kinds."""
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
    reward = response.get("reward")
    return isinstance(reward, (int, float)) and math.isfinite(reward) and not response.get("mask_sample")
