"""Chat completions on the wire: request headers, the parts of an address, and parsing of answers and errors.

Decides which answers are worth another try; the retries themselves are in `model`.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from urllib.parse import SplitResult, urlsplit

from sandbox_service.errors import ConfigurationError

ABORTED = {"abort", "error"}  # finish reasons for a completion that the server, not the model, ended


@dataclass(frozen=True, slots=True)
class Completion:
    """Text of a completion, and whether `max_tokens` cut it off."""

    text: str
    is_cut: bool
    tokens: int | None = None


class EndpointUnavailableError(Exception):
    """Another try may succeed, after `retry_after` seconds. `is_server_error`: the endpoint answered, and failed."""

    def __init__(self, words: str, retry_after: float = 0.0, *, is_server_error: bool = False) -> None:
        super().__init__(words)
        self.retry_after = retry_after
        self.is_server_error = is_server_error


class RefusalError(Exception):
    """The endpoint refused a request; another try would have the same result. `status` is the HTTP status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def parse_completion(answer: bytes, url: str) -> Completion:
    """Return the completion in an answer.

    Args:
        answer: Body of the response.
        url: Address of the endpoint, for messages.

    Raises:
        EndpointUnavailableError: The server aborted the completion.
        ConfigurationError: The answer is not a chat completion.
    """
    try:
        data = json.loads(answer)
        if "error" in data and "choices" not in data:
            raise EndpointUnavailableError(error_message(answer), is_server_error=True)
        choice = data["choices"][0]
        text, reason = choice["message"].get("content") or "", choice.get("finish_reason")
        tokens = (data.get("usage") or {}).get("completion_tokens")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ConfigurationError(
            f"url: the server at {url} does not implement OpenAI's chat completions: {_start(answer)}"
        ) from None
    if reason in ABORTED:
        raise EndpointUnavailableError(f"the server ended a completion by {reason!r}", is_server_error=True)
    text = str(text).encode("utf-8", "replace").decode()  # the judge takes no lone surrogates
    return Completion(text, reason == "length", tokens if isinstance(tokens, int) else None)


def error_message(answer: bytes) -> str:
    """Return the error message of an answer, from any of the usual fields."""
    try:
        data = json.loads(answer)
        found = data.get("error", data.get("detail", data)) if isinstance(data, dict) else data
        return str(found.get("message", found) if isinstance(found, dict) else found)[:500]
    except ValueError:
        return _start(answer)


def _start(answer: bytes) -> str:
    return repr(answer[:120].decode("utf-8", "replace"))


def retry_after_seconds(response: HTTPResponse) -> float:
    """Return the seconds in `Retry-After` (RFC 9110, 10.2.3), given as seconds or as a date; 0 without one."""
    data = (response.getheader("Retry-After") or "").strip()
    if data.isascii() and data.isdigit():
        return float(data)
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(data).timestamp() - time.time())
    return 0.0


def address(url: str) -> SplitResult:
    """Return the parts of a URL.

    Raises:
        ConfigurationError: If it is not an HTTP address.
    """
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good = is_good and url.isascii() and url.isprintable() and " " not in url
    except ValueError as error:
        raise ConfigurationError(f"url: {url}: {error}") from None
    if not is_good:
        raise ConfigurationError(f"url: {url} is not an address like http://127.0.0.1:8000/v1")
    return parts


def headers(key: str, variable: str) -> dict[str, str]:
    """Return request headers.

    Args:
        key: API key; empty for none.
        variable: Environment variable that has the key, for messages.

    Raises:
        ConfigurationError: The key has characters that a header cannot carry.
    """
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"{variable} is not a valid key: it has characters that no HTTP header can have")
    return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
