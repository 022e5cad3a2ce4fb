"""The routes of test suites: put one once, then name it in any number of submissions."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from sandbox_service import suites
from sandbox_service.api import body
from sandbox_service.api.documents import TROUBLE, gives, takes
from sandbox_service.api.intake import check_limits, check_tests
from sandbox_service.errors import BadRequest, NotFound
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import SuiteBody
from sandbox_service.settings import Settings


class Stored(BaseModel):
    """A suite that is here now."""

    id: str
    tests: int


class Asked(BaseModel):
    """Suites that somebody wants to name."""

    model_config = ConfigDict(extra="forbid")

    suites: list[str] = Field(max_length=10_000)


class Missing(BaseModel):
    """Those of them that would have to be put first."""

    missing: list[str]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`PUT` and `GET /v1/suites/{sha256}`, and `POST /v1/suites/missing`."""
    router = APIRouter(prefix="/v1/suites", tags=["suites"])

    @router.put(
        "/{sha256}",
        openapi_extra=takes(SuiteBody),
        responses=gives("Stored", TROUBLE) | gives("Stored", {}, status=201),
        summary="Store a suite under the SHA-256 of its bytes",
    )
    async def put(sha256: str, request: Request, response: Response) -> Stored:
        suite = suites.read(await body.read(request, settings.max_body_bytes))
        if suite.id != _id(sha256):
            raise BadRequest(f"the body's bytes are {suite.id}, not {_id(sha256)}")
        check_tests(suite.tests, settings)
        if suite.limits is not None:
            check_limits(suite.limits, settings)
        response.status_code = 201 if await queue.put_suite(suite) else 200
        return Stored(id=suite.id, tests=len(suite.tests))

    @router.post(
        "/missing", openapi_extra=takes(Asked), responses=gives("Missing", TROUBLE), summary="Which are not here"
    )
    async def missing(request: Request) -> Missing:
        asked = Asked.model_validate_json(await body.read(request, settings.max_body_bytes))
        return Missing(missing=await queue.missing_suites(asked.suites))

    @router.get("/{sha256}", responses=gives("SuiteBody", TROUBLE), summary="A suite's bytes")
    async def get(sha256: str) -> Response:
        suite = await queue.suite(_id(sha256))
        if suite is None:
            raise NotFound(f"{_id(sha256)} is not here, or is no more")
        return Response(suite.body, media_type="application/json")

    return router


def _id(sha256: str) -> str:
    """A suite's id from what a path says, with or without its prefix."""
    return "sha256:" + sha256.removeprefix("sha256:")
