"""What the OpenAPI document says of bodies: they are read and written raw, for speed, so it has to be told."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from sandbox_service.languages import LANGUAGES

Responses = dict[int | str, dict[str, object]]

GRADE = "Grade"
TROUBLE = {
    400: "not HTTP as it should be",
    401: "no key",
    404: "not known, or no more",
    408: "too slow",
    409: "id reused with another body, or unknown suite",
    413: "body too large",
    422: "what is wrong, field by field",
    429: "queue full, or too many wrong keys",
    431: "head too large",
    503: "no usable jail, no Redis, or closing",
}


def takes(model: type[BaseModel]) -> dict[str, object]:
    """A route's request body."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def gives(model: str, trouble: dict[int, str], media_type: str = "application/json", status: int = 200) -> Responses:
    """A route's answers: a model when all is well, else trouble."""
    well = {media_type: {"schema": {"$ref": f"#/components/schemas/{model}"}}}
    answers: Responses = {status: {"description": "well", "content": well}}
    return answers | _troubles(trouble)


def refuses(fault: int = 503) -> Responses:
    """How a compatibility route says that it cannot answer. `fault`: the status when we failed."""
    statuses = (400, 401, 408, 409, 413, 422, 431)  # and 429 for keys that are guessed: what is asked is held
    return _troubles(
        {number: TROUBLE[number] for number in statuses} | {429: TROUBLE[429], fault: "not graded in time"}
    )


def _troubles(trouble: dict[int, str]) -> Responses:
    bad = {"application/json": {"schema": {"$ref": "#/components/schemas/Trouble"}}}
    return {number: {"description": text, "content": bad} for number, text in trouble.items()}


def sharpen(schemas: dict[str, Any]) -> None:
    """Say what is checked and pydantic does not say by itself: fields that exclude each other, and the languages."""
    submission = schemas["Submission"]
    submission["allOf"] = [
        {"oneOf": [_only("code", "completion", "string"), _only("completion", "code", "string")]},
        {"oneOf": [_only("tests", "suite", "array"), _only("suite", "tests", "string")]},
    ]
    submission["properties"]["language"]["enum"] = [name for each in LANGUAGES for name in (each.name, *each.aliases)]


def _only(given: str, other: str, kind: str) -> dict[str, Any]:
    """One is there and no null, the other is not there, or null."""
    return {"required": [given], "properties": {given: {"type": kind}, other: {"type": "null"}}}
