"""The fake service in a thread, so that tests can be plain functions, and acts for batches."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from tests.fake_service import PASSED, Act, FakeService, Said

TESTS = [{"type": "stdin", "output": "3"}]
LONG = [{"type": "stdin", "output": "3" * 5000}]


@contextmanager
def serving(fake: FakeService) -> Iterator[str]:
    """Yield the fake service's address."""
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    address: list[str] = []
    is_there = threading.Event()

    async def serve() -> None:
        async with fake.running() as url:
            address.append(url)
            is_there.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert is_there.wait(10)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


def programs(count: int) -> list[Said]:
    """Return this many submissions without tests, named `s0`, `s1`, …"""
    return [{"id": f"s{each}", "code": f"print({each})"} for each in range(count)]


def line(said: Said, grade: Said = PASSED) -> bytes:
    return json.dumps({"id": said["id"]} | grade).encode() + b"\n"


def error_line(said: Said, kind: str, **more: object) -> bytes:
    return json.dumps({"id": said["id"], "error": {"type": kind, "message": "so it is", **more}}).encode() + b"\n"


def lines(*made: bytes, breaks: bool = False) -> Act:
    """Answer a batch with these lines, then end normally or break off."""
    return _answer(lambda _: list(made), breaks)


def half(verdict: Callable[[Said], Said] = lambda _: PASSED) -> Act:
    """Answer half of a batch and break off in the middle of a line."""

    def made(batch: list[Said]) -> list[bytes]:
        whole = [line(said, verdict(said)) for said in batch]
        return [*whole[: len(whole) // 2], whole[-1][:10]]

    return _answer(made, breaks=True)


def each(make: Callable[[Said], bytes]) -> Act:
    """Answer each submission with a line made by a function."""
    return _answer(lambda batch: [make(said) for said in batch], breaks=False)


def _answer(make: Callable[[list[Said]], list[bytes]], breaks: bool) -> Act:
    async def act(request: web.Request, said: Said) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for made in make(said["submissions"]):
            await response.write(made)
        if breaks:
            await asyncio.sleep(0.05)  # or what was written may never be sent
            assert request.transport is not None
            request.transport.abort()
        return response

    return act
