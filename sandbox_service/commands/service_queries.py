"""Asks a running service for the data of its dashboard, for `proctor top` and `proctor tail`."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from sandbox_service.client.asynchronous import KEY_VARIABLE
from sandbox_service.commands.remote_grading import checked_key, checked_url
from sandbox_service.errors import BadRequestError, UnavailableError

TIMEOUT_SECONDS = 30.0
MOST_SAID = 500  # characters of a refusal that is not the service's JSON

Json = dict[str, Any]


class ServiceQueries:
    """Read-only requests to one service, with the key in PROCTOR_API_KEY.

    Args:
        url: The service's address.

    Raises:
        BadRequestError: The address is invalid.
    """

    def __init__(self, url: str) -> None:
        self._url = checked_url(url).rstrip("/")
        if urlsplit(url).username is not None:  # urllib takes it for a part of the host's name
            raise BadRequestError(f"--url: remove the part before @, and put the key into {KEY_VARIABLE}")
        key = checked_key()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(self, path: str, query: list[tuple[str, str]]) -> Json:
        """Return the JSON of a route.

        Args:
            path: Its path, with a slash in front.
            query: Names and values; an empty value is left out.

        Raises:
            BadRequestError: The service refuses the request.
            UnavailableError: The service does not answer.
        """
        given = urlencode([(name, value) for name, value in query if value])
        with self._open(f"{path}?{given}" if given else path) as answer:
            return self._parsed(answer.read())

    def events(self) -> Iterator[tuple[str, Json]]:
        """Yield the events of the service until it closes, each with its name.

        Raises:
            BadRequestError: The service refuses the request.
            UnavailableError: The service does not answer, or stops to.
        """
        with self._open("/v1/events") as answer:
            name = ""
            for line in self._lines(answer):
                field, _, value = line.rstrip(b"\n").partition(b": ")
                if field == b"event":
                    name = value.decode()
                elif field == b"data":
                    yield name, self._parsed(value)

    def _open(self, path: str) -> http.client.HTTPResponse:
        request = Request(self._url + path, headers=self._headers)  # noqa: S310 checked_url admits http and https
        try:
            answer: http.client.HTTPResponse = urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310
        except HTTPError as error:
            raise BadRequestError(f"{self._url}: {_refusal(error)}") from None
        except (URLError, OSError, http.client.HTTPException) as error:
            raise self._away(error) from None
        return answer

    def _lines(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            yield from answer
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None

    def _parsed(self, body: bytes) -> Json:
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise BadRequestError(f"{self._url} is not a proctor service: its answer is not JSON")
        return found

    def _away(self, error: Exception) -> UnavailableError:
        reason = getattr(error, "reason", None) or error
        reason = getattr(reason, "strerror", None) or reason  # without its number
        return UnavailableError(f"{self._url} does not answer: {reason}; is the service running? (proctor serve)")


def _refusal(error: HTTPError) -> str:
    """Return the message of a response with an error status."""
    body = error.read()
    try:
        said = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        said = body.decode("utf-8", "replace")[:MOST_SAID] or error.reason
    hint = f" (put the key in {KEY_VARIABLE})" if error.code == http.client.UNAUTHORIZED else ""
    return f"{error.code}: {said}{hint}"
