"""A worker's probes, and a worker whose sandboxes fail: it says so, and ends."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sandbox_service import bootstrap
from sandbox_service.errors import ConfigurationError, SandboxError
from sandbox_service.fleet import health
from sandbox_service.fleet import worker as module
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.wakeup import JobListener
from sandbox_service.fleet.worker import Worker
from sandbox_service.settings import Settings
from tests.fakes import hold, until
from tests.guards import HANG_GUARD_SECONDS
from tests.ports import free_port
from tests.queues.world import Slots
from tests.redis_server import running_redis


async def ask(port: int, path: str) -> tuple[int, Any]:
    """The status and the body of an answer."""

    def get() -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=HANG_GUARD_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error) if "json" in error.headers["Content-Type"] else None

    return await asyncio.to_thread(get)


def test_the_routes_say_what_the_worker_says() -> None:
    async def scenario() -> None:
        reasons: list[str] = []
        async with health.serving("127.0.0.1", port := free_port(), lambda: reasons):
            assert await ask(port, "/readyz") == (200, {"ready": True, "reasons": []})
            reasons.append("slot 0: no jail")
            assert await ask(port, "/readyz") == (503, {"ready": False, "reasons": reasons})
            assert (await ask(port, "/healthz"))[0] == 200  # it lives
            assert (await ask(port, "/v1/status"))[0] == 404

    asyncio.run(scenario())


def test_a_port_that_is_taken_is_named() -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1 port {port}"):
                async with health.serving("127.0.0.1", port, list):
                    pass

    asyncio.run(scenario())


@asynccontextmanager
async def opened_worker(slots: Slots, count: int) -> AsyncIterator[tuple[Worker, Ledger]]:
    """A worker that is not running yet, and the ledger of its Redis."""
    with running_redis() as redis:
        async with bootstrap.ledger(Settings(redis_url=redis.url)) as ledger:
            yield (
                Worker(ledger, slots.make, count, lambda *given: JobListener(redis.url, "proctor", *given), 1 << 20),
                ledger,
            )


def test_a_worker_whose_sandboxes_fail_is_not_ready_gives_back_what_it_has_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "HOPELESS_SECONDS", 30.0)

    async def scenario() -> None:
        async with opened_worker(slots := Slots(hold), 2) as (worker, ledger):
            working = asyncio.create_task(worker.run(asyncio.Event(), 0.1))
            assert "not registered yet" in worker.unready()
            await until(lambda: worker.unready() == [])
            slots.made[0].fail(100.0)
            assert worker.unready() == []  # the other one works
            slots.made[1].fail(29.0)
            assert worker.unready() == ["slot 0: no jail", "slot 1: no jail"]
            with pytest.raises(SandboxError, match=r"for \d+ s .*: slot 0: no jail; slot 1: no jail"):
                await asyncio.wait_for(working, HANG_GUARD_SECONDS)
            assert worker.unready() == ["stopping"]
            assert await ledger.workers() == {}  # it has left

    asyncio.run(scenario())


def test_a_worker_that_never_had_a_sandbox_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HOPELESS_SECONDS", 0.2)

    async def scenario() -> None:
        async with opened_worker(slots := Slots(hold), 1) as (worker, ledger):
            slots.made[0].fail(0.0)
            with pytest.raises(SandboxError, match="slot 0: no jail"):
                await asyncio.wait_for(worker.run(asyncio.Event(), 0.1), HANG_GUARD_SECONDS)
            assert await ledger.workers() == {}

    asyncio.run(scenario())
