"""Bounds the time and memory that a client connection takes before its request is complete and after it is answered.

uvicorn bounds only pipelined requests. This module also bounds the size of a request's head in bytes, the time that a
request takes to arrive, the time that a response stays unread, and the number of connections: beyond it the
connections that were idle longest are closed. Upgrades are refused. `request_body` bounds bodies.

Not covered: if a client pipelines requests and disconnects, this is noticed only when the first one is answered.
"""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

MOST_HEAD_BYTES = 64 << 10  # plus whatever arrives in the same read
SPARE_DESCRIPTORS = 512  # for slots, jails, Redis and files
SHARE_THAT_MAKES_ROOM = 16

SCOPE_KEY = "proctor.connection"  # of the connection in the scope of its requests
MALFORMED = (
    "this is no HTTP/1.1 request: check the method, the path, each line of the head, and content-length or the sizes "
    "of chunks"
)
BODY_HEADERS = (b"content-length", b"transfer-encoding")
REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class ConnectionBounds:
    """Limits of a server's connections.

    Attributes:
        connections: Number of connections.
        patience_seconds: Time for a request to arrive and for a response to be read.
        idle_seconds: Time between two requests.
    """

    connections: int
    patience_seconds: float
    idle_seconds: float


class _Transport:
    """A transport that writes nothing once it is closing, as when the client has gone: uvloop raises RuntimeError then,
    until `connection_lost` tells uvicorn.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _UnchunkedCycle(RequestResponseCycle):
    """A request of HTTP/1.0 and its response, which ends with the connection if it has no length.

    There are no chunks in that version, and uvicorn sends them all the same.
    """

    has_length = False

    async def send(self, message: ASGISendEvent) -> None:
        """Implements ASGI."""
        if message["type"] == "http.response.start":
            self.has_length = any(name.lower() == b"content-length" for name, _ in message["headers"])
            self.chunked_encoding = None if self.has_length else False
        elif message["type"] == "http.response.body" and not self.has_length:
            self.expected_content_length = len(message.get("body", b""))  # each part is as long as it is
        await super().send(message)


class Connection(HttpToolsProtocol):
    """A uvicorn connection with time and size limits, which `sweep` enforces."""

    bounds: ClassVar[ConnectionBounds]
    is_lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Implements asyncio.Protocol. Closes idle connections if there are too many, or refuses this one."""
        super().connection_made(cast(asyncio.Transport, _Transport(transport)))
        self.idle_since: float | None = self.loop.time()  # None: a request is arriving or being answered
        self._arriving_since: float | None = None
        self._unread_since: float | None = None  # since when sent data has not been read
        self._loose_bytes = 0  # received since the last body byte or the end of the last head
        self._body_is_lost = False
        self._when_lost: set[Callable[[], None]] = set()
        if len(self.connections) > self.bounds.connections and not self._make_room():
            self._refuse(503, "unavailable", f"all {self.bounds.connections} connections are in use; retry later")

    def data_received(self, data: bytes) -> None:
        """Implements asyncio.Protocol. Refuses a head that is too large and a body that follows a request for an
        upgrade.
        """
        self._loose_bytes += len(data)
        super().data_received(data)
        if self._body_is_lost:
            self._refuse(400, "no_upgrade", "a request with a body must not ask for an upgrade; use plain HTTP/1.1")
        elif self._loose_bytes > MOST_HEAD_BYTES:
            self._refuse(431, "head_too_large", f"the request's head has over {MOST_HEAD_BYTES} bytes")

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that the parser refuses; overrides uvicorn's, which sends `msg` as a plain text."""
        del msg
        self._refuse(400, "malformed", MALFORMED)

    def connection_lost(self, exc: Exception | None) -> None:
        """Implements asyncio.Protocol."""
        super().connection_lost(exc)
        self.is_lost = True
        for callback in list(self._when_lost):
            callback()

    def watch(self, lost: Callable[[], None]) -> None:
        """Call `lost` when the client disconnects."""
        self._when_lost.add(lost)

    def forget(self, lost: Callable[[], None]) -> None:
        """Do not call `lost` any more."""
        self._when_lost.discard(lost)

    def pause_writing(self) -> None:
        """Implements asyncio.Protocol."""
        super().pause_writing()
        self._unread_since = self.loop.time()

    def resume_writing(self) -> None:
        """Implements asyncio.Protocol."""
        super().resume_writing()
        self._unread_since = None

    # --- callbacks of the parser and of the response

    def on_message_begin(self) -> None:
        """Called by the parser at the first byte of a request."""
        super().on_message_begin()
        self.scope[SCOPE_KEY] = self  # type: ignore[literal-required]
        self.idle_since, self._arriving_since = None, self.loop.time()

    def on_headers_complete(self) -> None:
        """Called by the parser at the last byte of a head."""
        self._loose_bytes = 0
        super().on_headers_complete()
        if self.scope["http_version"] == "1.0":
            self.cycle.__class__ = _UnchunkedCycle
        if self.parser.should_upgrade():  # the parser then reads neither a body nor another request
            self.cycle.keep_alive = False
            self._body_is_lost = any(name in BODY_HEADERS for name, _ in self.headers)

    def on_body(self, body: bytes) -> None:
        """Called by the parser for each part of a body."""
        self._loose_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Called by the parser at the last byte of a request."""
        self._loose_bytes = 0
        self._arriving_since = None
        super().on_message_complete()
        self._mark_if_idle()

    def on_response_complete(self) -> None:
        """Called when the last byte of a response was written, if not yet sent."""
        super().on_response_complete()
        self._mark_if_idle()

    def _mark_if_idle(self) -> None:
        if self._arriving_since is None and not self.pipeline and self.cycle.response_complete:
            self.idle_since = self.loop.time()

    # --- time limits

    def check(self, now: float) -> None:
        """Close the connection if a time limit has passed.

        Args:
            now: The event loop's time in seconds.
        """
        if self.transport.is_closing() and self._unread_since is None:
            self._unread_since = now
        if _is_before(self._unread_since, now - self.bounds.patience_seconds):
            self.transport.abort()
        elif self.flow.read_paused and self._arriving_since is not None:
            self._arriving_since = now  # the server paused reading, so the client is not slow
        elif _is_before(self._arriving_since, now - self.bounds.patience_seconds):
            seconds = self.bounds.patience_seconds
            self._refuse(408, "too_slow", f"the request did not arrive within {seconds:g} seconds")
        elif _is_before(self.idle_since, now - self.bounds.idle_seconds):
            self.transport.close()

    def _make_room(self) -> bool:
        """Close some idle connections, longest idle first. Return whether there were any."""
        idle = [each for each in self.connections if _is_idle(each) and each is not self]
        idle.sort(key=lambda each: each.idle_since)  # type: ignore[union-attr]
        for each in idle[: 1 + len(idle) // SHARE_THAT_MAKES_ROOM]:
            self.connections.discard(each)
            each.transport.close()
        return bool(idle)

    def _refuse(self, status: int, kind: str, message: str) -> None:
        """Send an error response, unless another response is being sent, and close the connection."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        is_answered = cycle is not None and cycle.response_started and (cycle.more_body or not cycle.response_complete)
        if not is_answered:
            self.transport.write(_answer(status, kind, message))
        self.transport.close()


def protocol(bounds: ConnectionBounds) -> type[Connection]:
    """Return the connection class for a server with these limits."""
    return type("BoundConnection", (Connection,), {"bounds": bounds})


def sweep(connections: Iterable[object]) -> None:
    """Check the time limits of all connections. The caller repeats this every few seconds."""
    now = asyncio.get_running_loop().time()
    for each in list(connections):
        if isinstance(each, Connection):
            each.check(now)


def room_for(connections: int) -> int:
    """Return how many connections fit into the limit of open files, after raising the soft limit as far as needed.

    Args:
        connections: The number of connections wanted. Descriptors for everything else are added to it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_DESCRIPTORS
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(min(connections, soft - SPARE_DESCRIPTORS), 1)


def _is_idle(connection: object) -> bool:
    return isinstance(connection, Connection) and connection.idle_since is not None


def _is_before(moment: float | None, end: float) -> bool:
    return moment is not None and moment < end


def _answer(status: int, kind: str, message: str) -> bytes:
    problem = {"type": kind, "message": message, "retry_after_seconds": 2.0 if status == 503 else None}
    body = json.dumps({"error": problem}).encode()
    head = [f"HTTP/1.1 {status} {REASONS[status]}", "content-type: application/json", f"content-length: {len(body)}"]
    head += ["connection: close", *(["retry-after: 2"] if status == 503 else [])]
    return "\r\n".join([*head, "", ""]).encode() + body
