"""The reward service at its worst: a few lines that misbehave as they are told, over real HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.trainer.service_world import free_port
from trainer.config import Config, resolve
from trainer.episode import Completion, Prompt, Reward
from trainer.reward import Grader

TESTS = [{"type": "stdin", "output": "3"}, {"type": "stdin", "output": "3\n"}]
PASSED = {"verdict": "AC", "reward": 1.0, "mask_sample": False, "failure_kind": None, "failure_reason": None}
FAULT = {"verdict": "IE", "reward": None, "mask_sample": True, "failure_kind": "sandbox", "failure_reason": "died"}
Act = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass
class FakeService:
    """Stores suites, and answers each request for a grade by the next act; when there are no more, by its verdict."""

    acts: list[Act] = field(default_factory=list)
    suites: dict[str, bytes] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    puts: int = 0
    put_status: int = 201
    verdict: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: PASSED
    busy: int = 0
    busiest: int = 0

    async def grade(self, request: web.Request) -> web.StreamResponse:
        said = json.loads(await request.read())
        self.asked.append(said)
        self.headers.append(request.headers)
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        try:
            if said["suite"] not in self.suites:
                return trouble(409, "unknown_suite", "not known here")
            return await self.acts.pop(0)(request, said) if self.acts else web.json_response(self.verdict(said))
        finally:
            self.busy -= 1

    async def put(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        name = request.match_info["name"]
        assert name == "sha256:" + hashlib.sha256(body).hexdigest(), "the name is the hash of the bytes"
        self.puts += 1
        if self.put_status != 201:
            return trouble(self.put_status, "limit_too_high", "too many tests")
        self.suites[name] = body
        return web.json_response({"id": name}, status=201)

    @asynccontextmanager
    async def running(self, port: int) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_post("/v1/grade", self.grade)
        app.router.add_put("/v1/suites/{name}", self.put)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield
        finally:
            await runner.cleanup()


def trouble(status: int, kind: str, message: str, **headers: str) -> web.Response:
    return web.json_response({"error": {"type": kind, "message": message}}, status=status, headers=headers)


def says(status: int, kind: str, message: str = "", **headers: str) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        return trouble(status, kind, message, **headers)

    return act


def answers(answer: object) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=answer) if isinstance(answer, bytes) else web.json_response(answer)

    return act


def sleeps(seconds: float) -> Act:
    async def act(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.json_response(PASSED)

    return act


async def hangs_up(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def breaks_off(request: web.Request, said: dict[str, Any]) -> web.StreamResponse:
    """In the middle of an answer."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"verdict": "AC", "reward": 1.0')
    assert request.transport is not None
    request.transport.abort()
    return response


def configured(url: str = "", **said: Any) -> Config:
    service = {"url": url, "patience_seconds": 5.0} | said.pop("reward", {})
    return resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "name": "run", "reward": service} | said)


def completion(text: str = "```python\nprint(3)\n```", tokens: int = 10, is_truncated: bool = False) -> Completion:
    return Completion([0] * tokens, [0.0] * tokens, text, is_truncated, 0, 0)


def prompt(name: str = "p", **grading: Any) -> Prompt:
    return Prompt(name, [1, 2, 3], grading or {"tests": TESTS})


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


def ask(fake: FakeService, *prompts: Prompt, notices: list[str] | None = None, **said: Any) -> list[Reward]:
    """The rewards of one sample for each prompt, asked for one after the other."""

    async def work() -> list[Reward]:
        port = free_port()
        async with fake.running(port), Grader(configured(f"http://127.0.0.1:{port}/", **said), _to(notices)) as grader:
            return [await grader.grade(f"run.x.{place}.0", each, completion()) for place, each in enumerate(prompts)]

    rewards: list[Reward] = run(work())
    return rewards


def _to(notices: list[str] | None) -> Callable[[str], None]:
    return (notices if notices is not None else []).append
