"""`POST /slime`, for slime's `--rm-type remote_rm --rm-url http://host/slime`.

    {"prompt": text or messages, "response": text, "label": tests}
    1.0

slime takes the JSON of the answer as the sample's reward, so it is a bare number; with `?detail=1` it is an object, for
`--reward-key reward`. Only these three fields are sent, so the label has the tests: anything that `truths` reads, and
`language`, `checker`, `limits`, `extraction` and `reward` if they are wanted.

A fault of ours is 503: slime asks ten times, pausing up to 30 s, then the rollout ends. It knows no null.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_service import chat
from sandbox_service.api.compat.desk import Desk, tests_of
from sandbox_service.api.documents import refuses, takes
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

SECONDS = 110.0  # of slime's 120


class Slime(BaseModel):
    """A sample to be graded."""

    prompt: str | list[Any] | None = Field(None, description="looked at only to see whether it opens a thought")
    response: str
    label: Any = Field(description="tests")

    @property
    def submission(self) -> dict[str, Any]:
        """Fields of a submission. Raises BadRequest."""
        prompt = self.prompt if isinstance(self.prompt, str) else ""
        return {**tests_of(self.label, "label"), "completion": chat.continued(prompt, self.response)}


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /slime`."""
    router = APIRouter(tags=["slime"])
    desk = Desk(queue, settings, "slime")

    @router.post(
        "/slime",
        openapi_extra=takes(Slime),
        responses=refuses(),
        summary="The reward of an answer, as slime asks for it",
    )
    async def slime(request: Request, *, detail: bool = False) -> float | dict[str, Any]:
        asked = await desk.read(request, Slime)
        grade = await desk.verdict(request, asked.submission, SECONDS)
        assert grade.reward is not None  # of a verdict
        return details(grade) if detail else grade.reward

    return router


def details(grade: Grade) -> dict[str, Any]:
    """The reward and what it is for."""
    return {
        "reward": grade.reward,
        "accepted": grade.verdict == Verdict.AC,
        "verdict": grade.verdict,
        "passed": grade.passed,
        "total": grade.total,
        "message": grade.message,
    }
