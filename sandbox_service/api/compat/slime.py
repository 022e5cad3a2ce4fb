"""`POST /slime` for slime's `--rm-type remote_rm --rm-url http://host/slime`.

    {"prompt": text or messages, "response": text, "label": tests}
    1.0

slime uses the JSON value of the response as the sample's reward, so it is a bare number; with `?detail=1` it is an
object, for `--reward-key reward`. slime sends only these three fields, so the label contains the tests: any format of
`formats.ground_truth`, optionally with `language`, `checker`, `limits`, `extraction` and `reward`.

A fault of the service is 503: slime retries ten times with pauses up to 30 s, then the rollout ends. It does not accept
null.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading, tests_of
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.formats import chat
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

SECONDS = 110.0  # of slime's 120


class Slime(ForeignBody):
    """A sample to grade."""

    prompt: str | list[Any] | None = Field(None, description="only checked for an opened thought")
    response: str
    label: Any = Field(description="tests")

    @property
    def submission(self) -> dict[str, Any]:
        """The fields of a submission. Raises BadRequestError if the label is invalid."""
        prompt = self.prompt if isinstance(self.prompt, str) else ""
        return {**tests_of(self.label, "label"), "completion": chat.continued(prompt, self.response)}


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /slime`."""
    router = APIRouter(tags=["slime"])
    grading = HeldGrading(queue, settings, "slime")

    @router.post(
        "/slime",
        openapi_extra=request_schema(Slime),
        responses=compat_error_schemas(),
        summary="The reward of an answer (slime)",
    )
    async def slime(request: Request, *, detail: bool = False) -> float | dict[str, Any]:
        payload = await grading.read(request, Slime)
        grade = await grading.verdict(request, payload.submission, SECONDS)
        assert grade.reward is not None  # `verdict` returns no fault
        return details(grade) if detail else grade.reward

    return router


def details(grade: Grade) -> dict[str, Any]:
    """Return the reward with its verdict, counts and message."""
    return {
        "reward": grade.reward,
        "accepted": grade.verdict == Verdict.AC,
        "verdict": grade.verdict,
        "passed": grade.passed,
        "total": grade.total,
        "message": grade.message,
    }
