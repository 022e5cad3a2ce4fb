"""The synchronous client: inside event loops, in threads and forks, and its end."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from aiohttp import web

from sandbox_service.client import AsyncClient, Client
from tests.client.world import TESTS, programs, serving
from tests.fake_service import FakeService, Said

ALLOWED = """
import sys
import sandbox_service.client
ours = {name for name in sys.modules if name.startswith(("sandbox_service.", "trainer"))}
client = {name for name in ours if name.startswith("sandbox_service.client")}
nouns = {"schema", "schema.tests", "errors", "text", "formats", "formats.problem", "formats.unpacking"}
nouns = {f"sandbox_service.{name}" for name in nouns}
foreign = {"fastapi", "hiredis", "httptools", "numpy", "orjson", "prometheus_client", "psutil", "redis", "rich", "rq"}
foreign |= {"starlette", "torch", "uvicorn", "uvloop", "zstandard"}
print(sorted(ours - client - nouns), sorted(foreign & set(sys.modules)))
"""


def test_importing_it_imports_nothing_of_the_service() -> None:
    ended = subprocess.run([sys.executable, "-c", ALLOWED], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[] []"


def test_it_works_where_a_loop_runs_already() -> None:
    async def notebook(url: str) -> float | None:
        with Client(url) as client:
            return client.grade(code="1", tests=TESTS).reward

    with serving(FakeService()) as url:
        assert asyncio.run(notebook(url)) == 1.0


def test_many_threads_can_share_it() -> None:
    with serving(fake := FakeService()) as url, Client(url) as client, ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda name: client.grade(id=name, code="1", tests=TESTS).id, map(str, range(100))))
    assert found == [str(each) for each in range(100)]
    assert len(fake.asked) == 100


def test_it_goes_elsewhere_as_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(fake := FakeService()) as url, Client(url, key="secret", patience_seconds=7.0) as client:
        client.grade(code="1", tests=TESTS)
        with pickle.loads(pickle.dumps(client)) as other:
            assert other.grade(code="1", tests=TESTS).reward == 1.0
        assert client.grade(code="1", tests=TESTS).reward == 1.0
        again: AsyncClient = pickle.loads(pickle.dumps(AsyncClient(url, key="secret", patience_seconds=7.0)))
    assert {each["Authorization"] for each in fake.headers} == {"Bearer secret"}
    assert again._peer.patience_seconds == 7.0


def test_a_forked_process_makes_it_anew() -> None:
    with serving(fake := FakeService()) as url, Client(url) as client:
        client.grade(id="parent", code="1", tests=TESTS)
        child = os.fork()
        if not child:
            reward = client.grade(id="child", code="1", tests=TESTS).reward
            client.close()
            os._exit(0 if reward == 1.0 else 1)
        assert os.waitpid(child, 0)[1] == 0
        client.grade(id="parent again", code="1", tests=TESTS)
    assert [each["id"] for each in fake.asked] == ["parent", "child", "parent again"]


def test_it_can_be_closed_and_used_again_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with serving(FakeService()) as url:
        client = Client(url)
        for _ in range(2):
            assert client.grade(code="1", tests=TESTS).reward == 1.0
            client.close()
        client.close()
    assert threading.active_count() == before


def test_one_that_is_forgotten_ends_its_thread() -> None:
    before = threading.active_count()
    with serving(FakeService()) as url:
        assert Client(url).grade(code="1", tests=TESTS).reward == 1.0
    assert threading.active_count() == before


def test_it_does_not_wait_for_itself() -> None:
    with (
        serving(FakeService()) as url,
        Client(url) as client,
        pytest.raises(RuntimeError, match="called from its own progress"),
    ):
        client.grade_many(programs(1), defaults={"tests": TESTS}, progress=lambda *_: client.ready())


def test_an_async_client_is_of_one_loop() -> None:
    with serving(FakeService()) as url:
        client = AsyncClient(url)
        with asyncio.Runner() as first:
            first.run(client.grade(code="1", tests=TESTS))
            with pytest.raises(RuntimeError, match="another event loop: make one for each"):
                asyncio.run(client.grade(code="1", tests=TESTS))
            first.run(client.close())


@pytest.mark.parametrize("many", [False, True])
def test_an_interrupted_call_closes_its_connection(many: bool) -> None:
    gone = threading.Event()

    async def held(request: web.Request, said: Said) -> web.StreamResponse:
        os.kill(os.getpid(), signal.SIGINT)
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.01)
        gone.set()
        return web.Response()

    fake = FakeService(batch_acts=[held]) if many else FakeService(acts=[held])
    with serving(fake) as url, Client(url) as client:
        ask = partial(client.grade_many, programs(2)) if many else partial(client.grade, code="1", tests=TESTS)
        with pytest.raises(KeyboardInterrupt):
            ask()
        assert gone.wait(30)
        assert client.grade(code="1", tests=TESTS).reward == 1.0
