"""The relay to a process for large requests, when that process ends in the middle of a request."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import uvloop
from fastapi import Request
from starlette.types import Message

from sandbox_service.api.large.relay import RelayedResponse
from sandbox_service.api.request_body import ArrivingBytes
from tests.guards import HANG_GUARD_SECONDS

PARTS = 5
TURN_SECONDS = 0.01


def socket_of(writer: asyncio.StreamWriter) -> socket.socket:
    """Return a copy of a stream's socket."""
    return socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno()))


async def answers_of_a_process_that_ends(path: Path, answer: bytes = b"") -> list[Message]:
    """Relay a request whose body comes in parts to a process that ends after the first one, perhaps with an answer."""
    ended, forever, sent = asyncio.Event(), asyncio.Event(), list[Message]()

    async def end(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer:
            ended.set()
            await asyncio.sleep(0)  # the relay writes now, and reads after that
            with socket_of(writer) as raw:
                raw.send(answer)
                raw.shutdown(socket.SHUT_RDWR)
        writer.transport.abort()
        ended.set()

    async def receive() -> Message:
        await ended.wait()
        if not answer:
            await asyncio.sleep(TURN_SECONDS)  # so that the relay learns of the end
        if not parts:
            return {"type": "http.disconnect"} if await forever.wait() else {}
        parts.pop()
        return {"type": "http.request", "body": b"x" * 1000, "more_body": bool(parts)}

    async def send(message: Message) -> None:
        while parts:  # the client sends all before it reads
            await asyncio.sleep(TURN_SECONDS)
        sent.append(message)

    parts = [b"x"] * PARTS
    state = SimpleNamespace(arriving=ArrivingBytes(1 << 20))
    request = SimpleNamespace(
        app=SimpleNamespace(state=state), state=SimpleNamespace(arrived=bytearray(b"begin"), is_whole=False)
    )
    scope: dict[str, Any] = {"type": "http", "method": "POST", "raw_path": b"/", "query_string": b"", "headers": []}
    async with await asyncio.start_unix_server(end, path):
        response = RelayedResponse(cast(Request, request), str(path))
        await asyncio.wait_for(response(scope, receive, send), HANG_GUARD_SECONDS)
    return sent


def test_a_process_that_ends_in_the_middle_is_an_answer_of_503(tmp_path: Path) -> None:
    sent = uvloop.run(answers_of_a_process_that_ends(tmp_path / "large"))
    assert [message.get("status") for message in sent] == [503, None]


def test_an_answer_to_half_a_body_is_not_lost_with_the_rest_of_it(tmp_path: Path) -> None:
    """A process refuses the request and closes the connection while the client still sends."""
    answer = b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}"
    sent = uvloop.run(answers_of_a_process_that_ends(tmp_path / "large", answer))
    assert [message.get("status") for message in sent][:1] == [429]
    assert b"".join(message.get("body", b"") for message in sent) == b"{}"
