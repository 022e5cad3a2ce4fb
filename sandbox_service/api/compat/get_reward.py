"""`POST /get_reward` of OpenRLHF (`--reward.remote_url`, formerly `--remote_rm_url`).

    {"query": [prompt + answer, …], "prompts": […], "labels": […]}
    {"rewards": [r, …], "scores": [s, …], "extra_logs": {name: [value, …]}}

A label is any ground truth that `formats.ground_truth` reads (tests as JSON, `{"suite": "sha256:…"}`, columns of inputs
and outputs, …), optionally with `language`, `checker`, `limits`, `extraction` and `reward`. A score is the reward
clamped to [0, 1], for OpenRLHF's dynamic filtering. Empty lists get empty answers, since older versions send them.

A fault of the service is 503 for the whole request: OpenRLHF does not accept null, and asks five times before it ends
the run. (Its requests have one sample.) All samples are graded before the response, so the next request finds the
others in the cache. With `?fault=nan` a fault is NaN instead: `--algo.dynamic_filtering_enable` drops a group with a
NaN, which masks it. Without that flag NaN would corrupt the batch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading, tests_of
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError
from sandbox_service.formats import chat
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

SECONDS = 170.0  # of OpenRLHF's 180


class GetReward(ForeignBody):
    """Samples to grade; the lists are parallel."""

    query: Annotated[list[str], Field(fail_fast=True)] = Field(description="prompts and answers, special tokens kept")
    prompts: Annotated[list[str], Field(fail_fast=True)] = Field(
        default_factory=list, description="may be left out where the chat template is a known one"
    )
    labels: list[Any] = Field(default_factory=list, description="tests")

    @property
    def submissions(self) -> list[dict[str, Any]]:
        """The fields of a submission per sample. Raises BadRequestError for an invalid sample."""
        prompts: Sequence[str | None] = self.prompts or [None] * len(self.query)
        if not len(self.query) == len(prompts) == len(self.labels):
            counts = f"{len(self.query)} of query, {len(self.prompts)} of prompts, {len(self.labels)} of labels"
            raise BadRequestError(f"query, prompts and labels should have the same length: {counts}")
        return [
            {**tests_of(label, f"labels.{index}"), "completion": chat.response(query, prompt)}
            for index, (query, prompt, label) in enumerate(zip(self.query, prompts, self.labels, strict=True))
        ]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /get_reward`."""
    router = APIRouter(tags=["OpenRLHF"])
    grading = HeldGrading(queue, settings, "get_reward")

    @router.post(
        "/get_reward",
        openapi_extra=request_schema(GetReward),
        responses=compat_error_schemas(),
        summary="Rewards of answers (OpenRLHF)",
    )
    async def get_reward(request: Request, fault: Literal["error", "nan"] = "error") -> Response:
        payload = await grading.read(request, GetReward)
        if len(payload.query) > settings.max_batch:
            raise BadRequestError(f"query: {len(payload.query)} samples, the most is {settings.max_batch}")
        ask = grading.verdicts if fault == "error" else grading.many
        # json writes NaN, orjson does not
        text = json.dumps(answer_of(await ask(request, payload.submissions, SECONDS)))
        return Response(text, media_type="application/json")

    return router


def answer_of(grades: Sequence[Grade]) -> dict[str, Any]:
    """Return OpenRLHF's response, which contains numbers only."""
    rewards = [math.nan if grade.reward is None else grade.reward for grade in grades]
    return {
        "rewards": rewards,
        "scores": [min(max(reward, 0.0), 1.0) for reward in rewards],
        "extra_logs": _logs(grades) if grades else {},
    }


def _logs(grades: Sequence[Grade]) -> dict[str, list[float]]:
    return {
        "accepted": [float(grade.verdict == Verdict.AC) for grade in grades],
        "passed_share": [grade.passed / grade.total if grade.total else 0.0 for grade in grades],
        "too_slow": [float(grade.verdict == Verdict.TLE) for grade in grades],
        "no_program": [float(grade.verdict == Verdict.CE) for grade in grades],
        "faults": [float(grade.reward is None) for grade in grades],
    }
