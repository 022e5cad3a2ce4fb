"""Grades a batch with a running service: `proctor grade --url`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from urllib.parse import urlsplit

from sandbox_service.client import Client, Peer, ServiceUnavailableError
from sandbox_service.client.asynchronous import KEY_VARIABLE
from sandbox_service.errors import BadRequestError, UnavailableError
from sandbox_service.schema import Grade

PATIENCE_SECONDS = 30.0  # short, because a user is waiting, but long enough for a restart of the service


def grade_all(url: str, body: bytes, take: Callable[[Grade], None]) -> None:
    """Grade a batch with a service.

    Args:
        url: The service's address.
        body: The body of a batch request.
        take: Called with each grade as it arrives.

    Raises:
        BadRequestError: The service refuses the batch, or the address is invalid.
        UnavailableError: The service does not answer.
    """
    batch = json.loads(body)
    checked_key()
    peer = Peer(checked_url(url), PATIENCE_SECONDS, KEY_VARIABLE, url_setting="--url", patience_setting="")
    try:
        with Client(peer) as client:
            for grade in client.grade_as_completed(batch["submissions"], defaults=batch["defaults"]):
                take(grade)
    except ServiceUnavailableError as unavailable:
        raise UnavailableError(f"{unavailable}; is the service running? (proctor serve)") from None


def checked_key() -> str:
    """Return the key in PROCTOR_API_KEY; empty without one. Raise BadRequestError if no header can carry it."""
    key = os.environ.get(KEY_VARIABLE, "")
    if not (key.isascii() and key.isprintable()):
        raise BadRequestError(f"{KEY_VARIABLE}: no HTTP header can carry its characters; set the key alone")
    return key


def checked_url(url: str) -> str:
    """Return the URL unchanged. Raise BadRequestError if it is invalid."""
    try:
        parts = urlsplit(url)
        port_is_good = parts.port != 0  # raises ValueError if the port is not a number
    except ValueError as error:
        raise BadRequestError(f"--url {url}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise BadRequestError(f"--url {url}: not an address like http://127.0.0.1:8080")
    return url
