"""Grading by a service that runs: `proctor grade --url`."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlsplit

from sandbox_service.client import Away, Client, Peer
from sandbox_service.client.asynchronous import KEY_VARIABLE
from sandbox_service.errors import BadRequest, Unavailable
from sandbox_service.schema import Grade

PATIENCE_SECONDS = 30.0  # somebody looks on; but a service that is started again should cost nothing


def grade_all(url: str, body: bytes, take: Callable[[Grade], None]) -> None:
    """Grade a batch; `take` gets each grade as it comes. Raises BadRequest, or Unavailable if there is nobody."""
    batch = json.loads(body)
    peer = Peer(checked(url), PATIENCE_SECONDS, KEY_VARIABLE, url_setting="--url", patience_setting="")
    try:
        with Client(peer) as client:
            for grade in client.grade_as_completed(batch["submissions"], defaults=batch["defaults"]):
                take(grade)
    except Away as away:
        raise Unavailable(f"{away}; is it running? (proctor serve)") from None


def checked(url: str) -> str:
    """An address that can be one. Raises BadRequest."""
    try:
        parts = urlsplit(url)
        port_is_good = parts.port != 0  # reading it raises if it is no number
    except ValueError as error:
        raise BadRequest(f"--url {url}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise BadRequest(f"--url {url}: not an address like http://127.0.0.1:8080")
    return url
