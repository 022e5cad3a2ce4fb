"""Relays one request to a process for large requests, and its response back, piece by piece.

It uses the socket itself and no stream: a process may answer and close the connection before it has read the whole
body, and a stream whose write fails loses what it has not read yet.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress

import httptools
from fastapi import Request, Response
from starlette.types import Message, Receive, Scope, Send

from sandbox_service.api.error_responses import error_response
from sandbox_service.api.request_body import ArrivingBytes
from sandbox_service.errors import UnavailableError

READ_BYTES = 256 << 10
HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"expect", b"date", b"server"}
)  # headers of a single connection, or that the service adds itself


class RelayedResponse(Response):
    """The response of a process for large requests. A part of the request has arrived in the service already."""

    def __init__(self, request: Request, path: str) -> None:
        super().__init__()
        self._path = path
        self._arriving: ArrivingBytes = request.app.state.arriving
        self._arrived = request.state.arrived
        self._is_whole = request.state.is_whole
        self._is_closed = False  # by the process, as sending has shown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Implements ASGI: relays in both directions until one of them ends."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as connection:
            try:
                await asyncio.get_running_loop().sock_connect(connection, self._path)
            except OSError:
                await _failed(scope, receive, send)
            else:
                await self._relay(connection, scope, receive, send)

    async def _relay(self, connection: socket.socket, scope: Scope, receive: Receive, send: Send) -> None:
        down = asyncio.ensure_future(self._down(connection, scope, receive, send))
        up = asyncio.ensure_future(self._up(connection, scope, receive))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if up.done() and up.exception() is not None:
                raise up.exception() or AssertionError
            if not up.done():
                await down
        finally:
            up.cancel()
            down.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _up(self, connection: socket.socket, scope: Scope, receive: Receive) -> None:
        """Send the request, then wait until the client disconnects. Raise QueueFullError if too many bytes are
        arriving.
        """
        counted = 0
        try:
            await self._send(connection, _head(scope) + _chunk(bytes(self._arrived)))
            self._arrived.clear()
            while not self._is_whole:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                counted += len(message.get("body", b""))
                self._arriving.add(len(message.get("body", b"")))
                self._is_whole = not message.get("more_body", False)
                await self._send(connection, _chunk(message.get("body", b"")))
            await self._send(connection, b"0\r\n\r\n")
        finally:
            self._arriving.bytes -= counted
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _send(self, connection: socket.socket, data: bytes) -> None:
        """Send a part of the request, unless the process has closed the connection: `_down` answers the client then."""
        if self._is_closed or not data:
            return
        try:
            await asyncio.get_running_loop().sock_sendall(connection, data)
        except ConnectionError:
            self._is_closed = True

    async def _down(self, connection: socket.socket, scope: Scope, receive: Receive, send: Send) -> None:
        """Relay the response. If the process ends early, the response stays unfinished and its connection is closed."""
        answer, loop = _ResponseParser(), asyncio.get_running_loop()
        with suppress(ConnectionError):
            while not answer.is_complete and (data := await loop.sock_recv(connection, READ_BYTES)):
                answer.feed(data)
                for message in answer.messages():
                    await send(message)
        if not answer.has_begun:
            await _failed(scope, receive, send)


async def _failed(scope: Scope, receive: Receive, send: Send) -> None:
    error = UnavailableError("the process that reads large requests has ended; send the request again")
    await error_response(error).response()(scope, receive, send)


def _head(scope: Scope) -> bytes:
    path = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    lines = [scope["method"].encode() + b" " + path + b" HTTP/1.1"]
    lines += [
        name + b": " + value for name, value in scope["headers"] if name not in HOP_BY_HOP and name != b"content-length"
    ]
    return b"\r\n".join([*lines, b"transfer-encoding: chunked", b"connection: close", b"", b""])


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


class _ResponseParser:
    """Converts an HTTP response to ASGI messages."""

    def __init__(self) -> None:
        self.has_begun = False
        self.is_complete = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._messages: list[Message] = []
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Parse more data."""
        self._parser.feed_data(data)

    def messages(self) -> Iterator[Message]:
        """Yield the messages since the last call."""
        messages, self._messages = self._messages, []
        yield from messages

    def on_header(self, name: bytes, value: bytes) -> None:
        """Implements httptools' callback for one header."""
        if name.lower() not in HOP_BY_HOP:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Called by httptools."""
        self.has_begun = True
        status = self._parser.get_status_code()
        self._messages.append({"type": "http.response.start", "status": status, "headers": self._headers})

    def on_body(self, body: bytes) -> None:
        """Implements httptools' callback for a part of the body."""
        self._messages.append({"type": "http.response.body", "body": body, "more_body": True})

    def on_message_complete(self) -> None:
        """Called by httptools."""
        self.is_complete = True
        self._messages.append({"type": "http.response.body", "body": b"", "more_body": False})
