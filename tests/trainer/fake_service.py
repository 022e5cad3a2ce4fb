"""Test doubles around the fake reward service: configurations, prompts and samples."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from tests.fake_service import FakeService
from tests.ports import free_port
from trainer.config import Config, resolve
from trainer.episode import Completion, Prompt, Reward
from trainer.reward import Grader

TESTS = [{"type": "stdin", "output": "3"}, {"type": "stdin", "output": "3\n"}]


def configured(url: str = "http://none", **said: Any) -> Config:
    service = {"url": url, "patience_seconds": 5.0} | said.pop("reward", {})
    return resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "name": "run", "reward": service} | said)


def completion(text: str = "```python\nprint(3)\n```", tokens: int = 10, is_truncated: bool = False) -> Completion:
    return Completion([0] * tokens, [0.0] * tokens, text, is_truncated, 0, 0)


def prompt(name: str = "p", **grading: Any) -> Prompt:
    return Prompt(name, [1, 2, 3], grading or {"tests": TESTS})


@asynccontextmanager
async def grading(config: Config, notice: Callable[[str], None] = print) -> AsyncIterator[Grader]:
    """A grader, closed afterwards."""
    grader = Grader(config, notice)
    try:
        yield grader
    finally:
        await grader.close()


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


def ask(fake: FakeService, *prompts: Prompt, notices: list[str] | None = None, **said: Any) -> list[Reward]:
    """The rewards of one sample for each prompt, asked for one after the other."""

    async def work() -> list[Reward]:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}/", **said), _to(notices)) as grader:
            return [await grader.grade(f"run.x.{place}.0", each, completion()) for place, each in enumerate(prompts)]

    rewards: list[Reward] = run(work())
    return rewards


def _to(notices: list[str] | None) -> Callable[[str], None]:
    return (notices if notices is not None else []).append
