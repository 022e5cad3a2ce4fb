"""`POST /get_reward` as OpenRLHF asks for it (`--reward.remote_url`, before `--remote_rm_url`).

    {"query": [prompt + answer, …], "prompts": […], "labels": […]}
    {"rewards": [r, …], "scores": [s, …], "extra_logs": {name: [value, …]}}

A label is anything that `truths` reads (tests of ours as JSON, `{"suite": "sha256:…"}`, columns of inputs and outputs,
…), and may say `language`, `checker`, `limits`, `extraction` and `reward` as well. A score is the reward, brought to
between 0 and 1, for OpenRLHF's dynamic filtering. Empty lists have empty answers: older versions send them.

A fault of ours is 503 for the whole request: OpenRLHF knows no null, and asks five times before it ends the run. (Its
requests have one sample.) All samples are graded to their end before anything is said, so that the next request finds
the others in the cache. With `?fault=nan` it is NaN instead: `--algo.dynamic_filtering_enable` drops a group with a
NaN, which masks it; without that flag it would poison the batch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from sandbox_service import chat
from sandbox_service.api.compat.desk import Desk, tests_of
from sandbox_service.api.documents import refuses, takes
from sandbox_service.errors import BadRequest
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

SECONDS = 170.0  # of OpenRLHF's 180


class GetReward(BaseModel):
    """Samples to be graded, a place in each list for each."""

    query: list[str] = Field(description="prompts and answers, special tokens kept")
    prompts: list[str] = Field(
        default_factory=list, description="may be left out where the chat template is a known one"
    )
    labels: list[Any] = Field(default_factory=list, description="tests")

    @property
    def submissions(self) -> list[dict[str, Any]]:
        """Fields of submissions. Raises BadRequest."""
        prompts = self.prompts or [""] * len(self.query)
        if not len(self.query) == len(prompts) == len(self.labels):
            counts = f"{len(self.query)} of query, {len(self.prompts)} of prompts, {len(self.labels)} of labels"
            raise BadRequest(f"there should be as many of each: {counts}")
        return [
            {**tests_of(label, f"labels.{index}"), "completion": chat.response(query, prompt)}
            for index, (query, prompt, label) in enumerate(zip(self.query, prompts, self.labels, strict=True))
        ]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /get_reward`."""
    router = APIRouter(tags=["OpenRLHF"])
    desk = Desk(queue, settings, "get_reward")

    @router.post(
        "/get_reward",
        openapi_extra=takes(GetReward),
        responses=refuses(),
        summary="Rewards of answers, as OpenRLHF asks for them",
    )
    async def get_reward(request: Request, fault: Literal["error", "nan"] = "error") -> Response:
        asked = await desk.read(request, GetReward)
        if len(asked.query) > settings.max_batch:
            raise BadRequest(f"query: {len(asked.query)} samples, the most is {settings.max_batch}")
        ask = desk.verdicts if fault == "error" else desk.many
        text = json.dumps(answer_of(await ask(request, asked.submissions, SECONDS)))  # NaN has no other writer
        return Response(text, media_type="application/json")

    return router


def answer_of(grades: Sequence[Grade]) -> dict[str, Any]:
    """What OpenRLHF reads: numbers only."""
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
