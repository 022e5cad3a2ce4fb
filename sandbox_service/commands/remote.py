"""Grading by a service that runs: one batch, answered line by line as submissions finish."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from pydantic import ValidationError

from sandbox_service.errors import BadRequest, Unavailable
from sandbox_service.schema import Grade, Verdict

KEY_VARIABLE = "PROCTOR_API_KEY"
SILENCE_SECONDS = 60.0  # a service that lives sends a blank line every 15 s


def grade_all(url: str, body: bytes, take: Callable[[Grade], None]) -> None:
    """Grade a batch; `take` gets each grade as it comes. Raises BadRequest, or Unavailable if the answer breaks off."""
    parts = _parts(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=SILENCE_SECONDS)
    try:
        connection.request("POST", f"{parts.path.rstrip('/')}/v1/grade/batch", body, _headers())
        answer = connection.getresponse()
        if answer.status != 200:
            raise BadRequest(f"{url} answered {answer.status}: {_complaint(answer)}")
        for line in answer:
            if line.strip():
                take(_grade(line, url))
    except (OSError, HTTPException) as error:
        raise Unavailable(f"{url}: {error or type(error).__name__}; is it running? (proctor serve)") from None
    finally:
        connection.close()


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port_is_good = parts.port != 0  # reading it raises if it is no number
    except ValueError as error:
        raise BadRequest(f"--url {url}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise BadRequest(f"--url {url}: not an address like http://127.0.0.1:8080")
    return parts


def _headers() -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    key = os.environ.get(KEY_VARIABLE)
    return headers | ({"Authorization": f"Bearer {key}"} if key else {})


def _complaint(answer: HTTPResponse) -> str:
    """What is wrong, in the service's words if it has any."""
    if answer.status == 401:
        return f"it asks for a key; set {KEY_VARIABLE}"
    try:
        return str(json.loads(answer.read())["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.reason}; is this a proctor service?"


def _grade(line: bytes, url: str) -> Grade:
    """A line of the answer: a grade, or why there is none."""
    try:
        found = json.loads(line)
        if "error" not in found:
            return Grade.model_validate(found)
        kind, message = str(found["error"]["type"]), str(found["error"]["message"])
        fault = {"mask_sample": True, "failure_kind": kind, "failure_reason": message}
        return Grade(id=found["id"], verdict=Verdict.IE, reward=None, **fault)
    except (ValidationError, ValueError, KeyError, TypeError):
        raise Unavailable(f"{url} answered with what is no grade; is it of another version?") from None
