"""A plain HTTP client for tests. It shares no code with the service, so that it cannot share a mistake."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 600


class Client:
    """A client of one service. `source` is the address that it calls from."""

    def __init__(self, url: str, source: str = "") -> None:
        self.url = url
        self._source = (source, 0) if source else None
        self._address = urlsplit(url).netloc

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Return status and body of any request."""
        connection = http.client.HTTPConnection(self._address, timeout=TIMEOUT_SECONDS, source_address=self._source)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, Any]:
        """Return status and JSON of a GET."""
        status, body = self.request("GET", path)
        return status, json.loads(body)

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        """Return status and JSON of a POST of JSON, or of raw bytes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, answer = self.request("POST", path, data, headers)
        return status, json.loads(answer)

    def batch(self, submissions: Iterable[dict[str, Any]], **defaults: Any) -> dict[str, dict[str, Any]]:
        """Grade many submissions and return the grades by id."""
        body = json.dumps({"defaults": defaults, "submissions": list(submissions)}).encode()
        status, answer = self.request("POST", "/v1/grade/batch", body)
        assert status == 200, answer[:2000]
        grades = [json.loads(line) for line in answer.splitlines() if line.strip()]
        return {grade["id"]: grade for grade in grades}
