"""A small fake model server whose answers depend on prompt and seed only. Behaves as vLLM or as another server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.ports import free_port

ROOM = 64  # tokens


def half_right(prompt: str, seed: int) -> str:
    """A program that prints 3, or 4."""
    return f"```python\nprint({3 + seed % 2})\n```"


@dataclass
class FakeModel:
    """`acts`: answers to the next completions in place of what it would say."""

    say: Callable[[str, int], str] = half_right
    is_vllm: bool = True
    seconds: float = 0.0
    acts: list[web.Response] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def models(self, _: web.Request) -> web.Response:
        served = [{"id": "fake", "owned_by": "vllm" if self.is_vllm else "somebody"}]
        return web.json_response({"data": served})

    async def tokenize(self, request: web.Request) -> web.Response:
        said = await request.json()
        text = said.get("prompt") or "".join(f"{each['role']}:{each['content']};" for each in said["messages"])
        return web.json_response({"tokens": list(text.encode()), "max_model_len": len(text) + ROOM, "count": len(text)})

    async def complete(self, request: web.Request) -> web.Response:
        said = await request.json()
        self.asked.append(said)
        await asyncio.sleep(self.seconds)
        if self.acts:
            return self.acts.pop(0)
        prompt = bytes(said["prompt"]).decode() if "prompt" in said else json.dumps(said["messages"])
        text = self.say(prompt, said["seed"])
        cut = len(text) > said["max_tokens"]
        text = text[: said["max_tokens"]]
        choice = {"finish_reason": "length" if cut else "stop", "text": text, "token_ids": list(text.encode())}
        return web.json_response(
            {"choices": [choice | {"message": {"content": text}}], "usage": {"completion_tokens": len(text)}}
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/v1/models", self.models)
        if self.is_vllm:
            app.router.add_post("/tokenize", self.tokenize)
            app.router.add_post("/v1/completions", self.complete)
        else:
            app.router.add_post("/v1/chat/completions", self.complete)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            await runner.cleanup()
