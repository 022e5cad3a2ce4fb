"""A fake reward service over real HTTP that misbehaves as a test tells it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from sandbox_service.client import retries

PASSED = {"verdict": "AC", "reward": 1.0, "mask_sample": False, "failure_kind": None, "failure_reason": None}
FAULT = {"verdict": "IE", "reward": None, "mask_sample": True, "failure_kind": "sandbox", "failure_reason": "died"}
Said = dict[str, Any]
Act = Callable[[web.Request, Said], Awaitable[web.StreamResponse]]


@dataclass
class FakeService:
    """Stores suites and answers each request for a grade with the next act, or with its verdict when no acts are left.

    A batch is answered by the next of `batch_acts`, which receives the batch, or else line by line with the verdict.
    """

    acts: list[Act] = field(default_factory=list)
    batch_acts: list[Act] = field(default_factory=list)
    suites: dict[str, bytes] = field(default_factory=dict)
    asked: list[Said] = field(default_factory=list)
    batches: list[list[Said]] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    puts: int = 0
    put_status: int = 201
    verdict: Callable[[Said], Said] = lambda _: PASSED
    busy: int = 0
    busiest: int = 0

    async def grade(self, request: web.Request) -> web.StreamResponse:
        said = json.loads(await request.read())
        self.asked.append(said)
        self.headers.append(request.headers)
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        try:
            if "suite" in said and said["suite"] not in self.suites:
                return trouble(409, "unknown_suite", "not known here")
            if self.acts:
                return await self.acts.pop(0)(request, said)
            return web.json_response({"id": said["id"]} | self.verdict(said))
        finally:
            self.busy -= 1

    async def batch(self, request: web.Request) -> web.StreamResponse:
        said = json.loads(await request.read())
        batch = [{**said["defaults"], **each} for each in said["submissions"]]
        self.batches.append(batch)
        self.headers.append(request.headers)
        for place, each in enumerate(batch):
            if "suite" in each and each["suite"] not in self.suites:
                return trouble(409, "unknown_suite", f"submissions[{place}]: {each['suite']} is not known here")
        if self.batch_acts:
            return await self.batch_acts.pop(0)(request, {"submissions": batch})
        return await self.lines(request, [{"id": each["id"]} | self.verdict(each) for each in batch])

    async def lines(self, request: web.Request, lines: list[Said]) -> web.StreamResponse:
        """Send these lines and end the answer."""
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for line in lines:
            await response.write(json.dumps(line).encode() + b"\n")
        return response

    async def put(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        name = request.match_info["name"]
        assert name == "sha256:" + hashlib.sha256(body).hexdigest(), "the name is the hash of the bytes"
        self.puts += 1
        if self.put_status != 201:
            return trouble(self.put_status, "limit_too_high", "too many tests")
        self.suites[name] = body
        return web.json_response({"id": name}, status=201)

    async def languages(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"languages": ["python"]})

    async def missing(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())["suites"]
        return web.json_response({"missing": [name for name in asked if name not in self.suites]})

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[str]:
        """Yield its address, on a free port by default."""
        app = web.Application(client_max_size=64 << 20)
        app.router.add_get("/v1/languages", self.languages)
        app.router.add_post("/v1/grade", self.grade)
        app.router.add_post("/v1/grade/batch", self.batch)
        app.router.add_post("/v1/suites/missing", self.missing)
        app.router.add_put("/v1/suites/{name}", self.put)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield "http://{}:{}".format(*runner.addresses[0])
        finally:
            await runner.cleanup()


def trouble(status: int, kind: str, message: str, **headers: str) -> web.Response:
    return web.json_response({"error": {"type": kind, "message": message}}, status=status, headers=headers)


def says(status: int, kind: str, message: str = "", **headers: str) -> Act:
    async def act(request: web.Request, said: Said) -> web.StreamResponse:
        return trouble(status, kind, message, **headers)

    return act


def answers(answer: object) -> Act:
    async def act(request: web.Request, said: Said) -> web.StreamResponse:
        if isinstance(answer, dict):
            return web.json_response({"id": said["id"]} | answer)
        return web.Response(body=answer)

    return act


def sleeps(seconds: float) -> Act:
    async def act(request: web.Request, said: Said) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.json_response({"id": said["id"]} | PASSED)

    return act


async def hangs_up(request: web.Request, said: Said) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def breaks_off(request: web.Request, said: Said) -> web.StreamResponse:
    """Break off in the middle of an answer."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"verdict": "AC", "reward": 1.0')
    assert request.transport is not None
    request.transport.abort()
    return response


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the client's pauses between retries."""
    monkeypatch.setattr(retries, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(retries, "LONGEST_PAUSE_SECONDS", 0.02)
