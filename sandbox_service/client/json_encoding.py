"""Encodes plain values and models of the schema, in any nesting, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from sandbox_service.schema import Submission

PROGRAMS = ("code", "completion")


def encoded(value: Any, *, sort_keys: bool = False) -> bytes:
    """Return a value as compact JSON, with sorted keys if asked. Raise TypeError if it is neither plain nor a model."""
    return json.dumps(value, default=_plain, sort_keys=sort_keys, separators=(",", ":")).encode()


def fields_of(submission: Submission | Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the submission sets, with programs that JSON can carry."""
    if isinstance(submission, Submission):
        fields = {name: getattr(submission, name) for name in submission.model_fields_set}
    else:
        fields = dict(submission)
    return fields | {name: encodable_text(fields[name]) for name in PROGRAMS if isinstance(fields.get(name), str)}


def encodable_text(completion: str) -> str:
    """Return the completion with lone surrogates replaced, which UTF-8 cannot encode."""
    return completion.encode("utf-8", "replace").decode()


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(
        f"{type(value).__name__} {value!r:.80} cannot be sent: give plain values, such as int, str and list"
    )
