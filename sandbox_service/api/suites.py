"""Routes of test suites: upload a suite once, then refer to it by its id in any number of submissions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from sandbox_service.api import json_bounds, request_body
from sandbox_service.api.intake import SMALL_BODY_BYTES, check_limits, check_tests
from sandbox_service.api.openapi import ERROR_STATUSES, request_schema, response_schemas
from sandbox_service.errors import BadRequestError, NotFoundError
from sandbox_service.grading import suites
from sandbox_service.grading.suites import Suite
from sandbox_service.judging import scoring
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import JudgeProgram, SuiteBody
from sandbox_service.settings import Settings


class SuiteStored(BaseModel):
    """A suite that the service has now."""

    id: str
    tests: int


class MissingSuitesRequest(BaseModel):
    """Ids of suites to look up."""

    model_config = ConfigDict(extra="forbid")

    suites: Annotated[list[str], Field(fail_fast=True)] = Field(max_length=10_000)


class MissingSuites(BaseModel):
    """The ids that the service does not have, so that they must be uploaded."""

    missing: list[str]


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `PUT` and `GET /v1/suites/{sha256}`, and `POST /v1/suites/missing`."""
    router = APIRouter(prefix="/v1/suites", tags=["suites"])

    @router.put(
        "/{sha256}",
        openapi_extra=request_schema(SuiteBody),
        responses=response_schemas(SuiteStored, ERROR_STATUSES) | response_schemas(SuiteStored, {}, status=201),
        summary="Store a suite under the SHA-256 of its bytes",
    )
    async def put(sha256: str, request: Request, response: Response) -> SuiteStored:
        suite = _read(await request_body.read(request, settings.max_body_bytes), settings)
        if suite.id != _id(sha256):
            raise BadRequestError(f"the body's hash is {suite.id}, but the path says {_id(sha256)}")
        check_tests(suite.count, settings)
        if suite.limits is not None:
            check_limits(suite.limits, settings)
        for judge in (suite.checker, suite.interactor):
            if isinstance(judge, JudgeProgram):
                check_limits(judge.limits, settings)
        if suite.groups is not None and (reason := scoring.fault(suite.groups, suite.tests)) is not None:
            raise BadRequestError(f"groups: {reason}")
        response.status_code = 201 if await queue.put_suite(suite) else 200
        return SuiteStored(id=suite.id, tests=suite.count)

    @router.post(
        "/missing",
        openapi_extra=request_schema(MissingSuitesRequest),
        responses=response_schemas(MissingSuites, ERROR_STATUSES),
        summary="List the suites that must be uploaded",
    )
    async def missing(request: Request) -> MissingSuites:
        wanted = MissingSuitesRequest.model_validate_json(await request_body.read(request, settings.max_body_bytes))
        return MissingSuites(missing=await queue.missing_suites(wanted.suites))

    @router.get(
        "/{sha256}", responses=response_schemas(SuiteBody, ERROR_STATUSES), summary="Get a suite as it was uploaded"
    )
    async def get(sha256: str) -> Response:
        suite = await queue.suite(_id(sha256))
        if suite is None:
            raise NotFoundError(f"no suite {_id(sha256)}: it was not uploaded, or has expired")
        return Response(suite.body, media_type="application/json")

    return router


def _read(found: bytes, settings: Settings) -> Suite:
    """Parse a suite. Raise BadRequestError or ValidationError."""
    if len(found) > SMALL_BODY_BYTES:
        json_bounds.check_submission(json_bounds.parse(found, settings.max_body_bytes), settings.max_tests)
    return suites.read(found)


def _id(sha256: str) -> str:
    """Return a suite's id from the hash in the path, with or without its prefix."""
    return "sha256:" + sha256.removeprefix("sha256:")
