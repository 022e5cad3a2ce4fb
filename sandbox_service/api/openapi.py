"""Schemas for the OpenAPI document.

Routes read and write bodies raw for speed, so FastAPI cannot derive the schemas from type annotations.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from sandbox_service.api.error_responses import ErrorBody
from sandbox_service.languages import LANGUAGES

Responses = dict[int | str, dict[str, object]]

ERROR_STATUSES = {
    400: "malformed HTTP",
    401: "missing or wrong API key",
    404: "unknown or expired",
    408: "the request did not arrive in time",
    409: "id reused with another body or key, or unknown suite",
    413: "body too large",
    422: "invalid request; the message names the fields",
    429: "queue full, or too many wrong keys",
    431: "head too large",
    503: "no usable jail, no Redis, or the service is closing",
}


def request_schema(model: type[BaseModel]) -> dict[str, object]:
    """Return the `openapi_extra` of a route whose request body is this model."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def response_schemas(
    model: type[BaseModel], errors: dict[int, str], media_type: str = "application/json", status: int = 200
) -> Responses:
    """Return the `responses` of a route.

    Args:
        model: The body of a successful response.
        errors: Descriptions of error responses, by status.
        media_type: The media type of a successful response.
        status: The status of a successful response.
    """
    content = {media_type: {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    success: Responses = {status: {"description": "success", "content": content}}
    return success | _error_schemas(errors)


def compat_error_schemas(fault: int = 503) -> Responses:
    """Return the error responses of a compatibility route.

    Args:
        fault: The status for a submission that the service could not grade.
    """
    statuses = (400, 401, 408, 409, 413, 422, 431)  # 429 only for wrong keys: these routes hold refused requests
    return _error_schemas(
        {number: ERROR_STATUSES[number] for number in statuses}
        | {429: ERROR_STATUSES[429], fault: "not graded in time"}
    )


def _error_schemas(errors: dict[int, str]) -> Responses:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}}}
    return {status: {"description": text, "content": content} for status, text in errors.items()}


def add_constraints(schemas: dict[str, Any]) -> None:
    """Add constraints to the schemas that the validators check and pydantic does not export.

    These are fields that exclude each other, and the names of the languages.
    """
    submission = schemas["Submission"]
    submission["allOf"] = [
        {"oneOf": [_only("code", "completion", "string"), _only("completion", "code", "string")]},
        {"oneOf": [_only("tests", "suite", "array"), _only("suite", "tests", "string")]},
    ]
    submission["properties"]["language"]["enum"] = [name for each in LANGUAGES for name in (each.name, *each.aliases)]


def _only(given: str, other: str, kind: str) -> dict[str, Any]:
    """Return a schema in which one field is present and not null, and the other one is absent or null."""
    return {"required": [given], "properties": {given: {"type": kind}, other: {"type": "null"}}}
