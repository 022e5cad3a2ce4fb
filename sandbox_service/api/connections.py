"""Connections: what a client may take of our time and memory before its request is a request, and after it is answered.

uvicorn bounds none of it, only what is pipelined. Here a request's head is bounded in bytes; how long a request takes
to arrive and how long an answer stays unread, in seconds; and connections in number: beyond it those that were idle
longest make room. No upgrade is made. Bodies are bounded by `body`, and answers by what was asked.

Not covered: that a client has gone which had sent one request behind another is seen only when the first is answered.
"""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 64 << 10  # and what comes in one read with them
SPARE_DESCRIPTORS = 512  # for slots, jails, Redis and files
SHARE_THAT_MAKES_ROOM = 16

BODY_HEADERS = (b"content-length", b"transfer-encoding")
REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class Bounds:
    """How many connections there may be, how long a client may dawdle, and how long one may be idle."""

    connections: int
    patience_seconds: float
    idle_seconds: float


class Connection(HttpToolsProtocol):
    """One of uvicorn's connections that can be told to end; `sweep` does so."""

    bounds: ClassVar[Bounds]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self.idle_since: float | None = self.loop.time()  # None: a request is here, or is arriving
        self._arriving_since: float | None = None
        self._unread_since: float | None = None  # our answer, or what is to be sent before the connection closes
        self._loose_bytes = 0  # that came since the last that belonged to a body or ended a head
        self._body_is_lost = False
        if len(self.connections) > self.bounds.connections and not self._make_room():
            self._refuse(503, "unavailable", f"there are {self.bounds.connections} connections, which is the most")

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._loose_bytes += len(data)
        super().data_received(data)
        if self._body_is_lost:
            self._refuse(400, "no_upgrade", "a request with a body must not ask for an upgrade; use plain HTTP/1.1")
        elif self._loose_bytes > MOST_HEAD_BYTES:
            self._refuse(431, "head_too_large", f"the request's head has over {MOST_HEAD_BYTES} bytes")

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        super().pause_writing()
        self._unread_since = self.loop.time()

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        super().resume_writing()
        self._unread_since = None

    # --- what the parser and the answer say

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self.idle_since, self._arriving_since = None, self.loop.time()

    def on_headers_complete(self) -> None:
        """The last byte of a head."""
        self._loose_bytes = 0
        super().on_headers_complete()
        if self.parser.should_upgrade():  # after which the parser reads no body and no other request
            self.cycle.keep_alive = False
            self._body_is_lost = any(name in BODY_HEADERS for name, _ in self.headers)

    def on_body(self, body: bytes) -> None:
        """Some bytes of a body."""
        self._loose_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        self._loose_bytes = 0
        self._arriving_since = None
        super().on_message_complete()
        self._perhaps_idle()

    def on_response_complete(self) -> None:
        """The last byte of an answer was written, if not yet sent."""
        super().on_response_complete()
        self._perhaps_idle()

    def _perhaps_idle(self) -> None:
        if self._arriving_since is None and not self.pipeline and self.cycle.response_complete:
            self.idle_since = self.loop.time()

    # --- its end

    def check(self, now: float) -> None:
        """End it if the client has had time enough."""
        if self.transport.is_closing() and self._unread_since is None:
            self._unread_since = now
        if _is_before(self._unread_since, now - self.bounds.patience_seconds):
            self.transport.abort()
        elif self.flow.read_paused and self._arriving_since is not None:
            self._arriving_since = now  # it is we who do not read
        elif _is_before(self._arriving_since, now - self.bounds.patience_seconds):
            seconds = self.bounds.patience_seconds
            self._refuse(408, "too_slow", f"the request did not arrive within {seconds:g} seconds")
        elif _is_before(self.idle_since, now - self.bounds.idle_seconds):
            self.transport.close()

    def _make_room(self) -> bool:
        """End some that are idle, longest first. Whether there were any."""
        idle = [each for each in self.connections if _is_idle(each) and each is not self]
        idle.sort(key=lambda each: each.idle_since)  # type: ignore[union-attr]
        for each in idle[: 1 + len(idle) // SHARE_THAT_MAKES_ROOM]:
            self.connections.discard(each)
            each.transport.close()
        return bool(idle)

    def _refuse(self, status: int, kind: str, message: str) -> None:
        """Say why, where no other answer is being sent, and end it."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        is_answered = cycle is not None and cycle.response_started and (cycle.more_body or not cycle.response_complete)
        if not is_answered:
            self.transport.write(_answer(status, kind, message))
        self.transport.close()


def protocol(bounds: Bounds) -> type[Connection]:
    """The class of a server's connections."""
    return type("BoundConnection", (Connection,), {"bounds": bounds})


def sweep(connections: Iterable[object]) -> None:
    """To be called every few seconds: ends those whose clients have had time enough."""
    now = asyncio.get_running_loop().time()
    for each in list(connections):
        if isinstance(each, Connection):
            each.check(now)


def room_for(connections: int) -> int:
    """How many connections there can be, up to so many, with descriptors left for all else. Raises the soft limit."""
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
