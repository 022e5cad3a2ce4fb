"""What is sent, as JSON: of dicts, nouns of the schema, or both in each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from sandbox_service.schema import Submission

PROGRAMS = ("code", "completion")


def encoded(value: Any, *, sort_keys: bool = False) -> bytes:
    """JSON without blanks. Raises TypeError for what is no plain value."""
    return json.dumps(value, default=_plain, sort_keys=sort_keys, separators=(",", ":")).encode()


def fields_of(submission: Submission | Mapping[str, Any]) -> dict[str, Any]:
    """Those that it says, with programs that can be sent."""
    if isinstance(submission, Submission):
        fields = {name: getattr(submission, name) for name in submission.model_fields_set}
    else:
        fields = dict(submission)
    return fields | {name: text_of(fields[name]) for name in PROGRAMS if isinstance(fields.get(name), str)}


def text_of(completion: str) -> str:
    """As it can be sent: half a surrogate pair is no JSON text."""
    return completion.encode("utf-8", "replace").decode()


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(
        f"{type(value).__name__} {value!r:.80} cannot be sent: give plain values, such as int, str and list"
    )
