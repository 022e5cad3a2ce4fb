"""Refuses cross-origin requests of browsers.

A page of any site can make its reader's browser send requests to services that only the reader can reach. If the
site's owner changes the address of its name (DNS rebinding), the page can also read the answers. The request's headers
show both, and a page cannot forge them:

* `Host`: the name in the address. Without API keys the service answers only to names that no outsider can own: IP
  addresses, `localhost`, names without a dot, names that are private by convention, and the names in SANDBOX_HOSTS.
  With keys it answers to every name, since a page of another name has no key.
* `Origin` and `Sec-Fetch-Site`: the page that sends the request. Only the service's own pages may; a link to the
  service may come from anywhere.

Clients that are not browsers send neither `Origin` nor `Sec-Fetch-Site`, and are not affected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_service.api.error_responses import ErrorDetail, ErrorResponse

PRIVATE = (".localhost", ".internal", ".svc", ".svc.cluster.local")
HEADERS = [(b"cross-origin-resource-policy", b"same-origin"), (b"x-content-type-options", b"nosniff")]
NAMES = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"})
OURS = frozenset({"same-origin", "none"})  # none: the user typed the address
MOST_KNOWN = 1000

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


class BrowserGuard:
    """ASGI middleware that refuses requests from pages of other origins.

    Args:
        app: The application behind it.
        bound: The name or address that the service listens on.
        hosts: Names that the service is reached by; `*.example.org` stands for all subdomains.
        asks_for_keys: True if routes require an API key; then every host is accepted.
    """

    def __init__(self, app: ASGIApp, bound: str, hosts: Iterable[str], *, asks_for_keys: bool) -> None:
        self._app = app
        self._bound = bound.lower()
        self._hosts = [each.lower() for each in hosts]
        self._serves_any_host = asks_for_keys
        self._known: dict[str, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Implements ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal.response()(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in HEADERS if each[0] not in present)]
            await send(message)

        await self._app(scope, receive, marked)

    def _refusal(self, scope: Scope) -> ErrorResponse | None:
        found: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            if name in NAMES:
                found.setdefault(name, []).append(value.decode("latin-1").strip().lower())
        hosts = found.get(b"host", [])
        for host in hosts:
            if not self._serves_any_host and not self._is_served(host):
                return _refused(421, "unknown_host", f"{host[:80]!r} is not a name of this service: {ADVICE}")
        if len(found) > (b"host" in found) and not self._is_ours(scope["method"], found, hosts):
            return _refused(403, "foreign_origin", f"the request comes from a page of another origin: {ADVICE}")
        return None

    def _is_served(self, host: str) -> bool:
        known = self._known.get(host)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[host] = is_private(host) or self._is_configured(host)
        return known

    def _is_configured(self, host: str) -> bool:
        name = _name(host)
        return name is not None and (name == self._bound or any(_fits(name, each) for each in self._hosts))

    def _is_own_origin(self, origin: str) -> bool:
        """Return True for a configured name. The port is compared only if it is configured, because a proxy may change
        it.
        """
        return any(_fits(origin, each) for each in self._hosts)

    def _is_ours(self, method: str, found: dict[bytes, list[str]], hosts: list[str]) -> bool:
        origins = [each.partition("://")[2] for each in found.get(b"origin", [])]  # "null" has none
        if origins and all(self._is_own_origin(each) for each in origins):
            return True
        if not all(each in hosts for each in origins):
            return False
        if OURS.issuperset(found.get(b"sec-fetch-site", [])):
            return True
        is_link = found.get(b"sec-fetch-mode") == ["navigate"] and found.get(b"sec-fetch-dest") == ["document"]
        return is_link and method in ("GET", "HEAD")


ADVICE = "set SANDBOX_HOSTS to the names that the service is reached by (docs/api.md)"


def is_private(host: str) -> bool:
    """Return True if no outsider can own the name in a Host header, so that it cannot be the name of a foreign page."""
    name = _name(host)
    if name is None:
        return False
    if name.startswith("["):
        return _is_address(name[1:-1])
    return "." not in name or name.endswith(PRIVATE) or _is_address(name)


def _name(host: str) -> str | None:
    """Return the host without the port and a final dot; None if it is malformed."""
    found = _HOST.fullmatch(host)
    return found[1].rstrip(".") if found is not None else None


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:]))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _refused(status: int, kind: str, message: str) -> ErrorResponse:
    return ErrorResponse(status, ErrorDetail(type=kind, message=message))
