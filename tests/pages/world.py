"""A service with scripted slots in a thread of the test: starts quickly and can be put into any state."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import uvicorn
from prometheus_client import CollectorRegistry

from sandbox_service.api import app
from sandbox_service.grading import suites
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe.events import EventBatcher
from sandbox_service.observe.history import History
from sandbox_service.observe.metrics import Metrics
from sandbox_service.observe.recheck import Rechecks
from sandbox_service.queues.base import Job, ObservedQueue, job_of
from sandbox_service.queues.local import LocalQueue
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.schema import Grade, StdinTest, Submission, TestResult, Timing, Verdict
from sandbox_service.settings import Settings
from sandbox_service.slots.process import SlotFactory, SlotOwner
from tests.fakes import FakeSlot, Script, Tally, deserved
from tests.http import Client
from tests.ports import free_port

START_SECONDS = 20.0


class Stage:
    """A running service. Its parts belong to the thread's loop; `soon` runs code there."""

    def __init__(self, settings: Settings, script: Script, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.client = Client(self.url)
        self.slots: list[FakeSlot] = []
        self._settings = settings
        self._script = script
        registry = CollectorRegistry()
        application = app.create(settings, lambda: self._opened(registry), registry, dict, ("no cgroups <b>here</b>",))
        config = uvicorn.Config(application, port=port, log_config=None, timeout_graceful_shutdown=5)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)

    @asynccontextmanager
    async def _opened(self, registry: CollectorRegistry) -> AsyncIterator[tuple[ObservedQueue, History]]:
        self.loop = asyncio.get_running_loop()
        self.queue = LocalQueue(cast(SlotFactory, self._slot), 2, self._settings.bounds)
        self.events = EventBatcher()
        self.queue.collect(self.events)
        Rechecks(self.queue, 0.0, registry)
        Metrics(self.queue, self.events, registry)
        try:
            settings = self._settings
            yield self.queue, History(self.events, settings.history_submissions, settings.history_bytes)
        finally:
            await self.queue.close()

    def _slot(self, index: int, owner: SlotOwner) -> FakeSlot:
        self.slots.append(FakeSlot(index, owner, self._script, Tally()))
        return self.slots[-1]

    def start(self) -> None:
        """Start and wait until it answers."""
        self._thread.start()
        end = time.monotonic() + START_SECONDS
        while not self._server.started:
            assert self._thread.is_alive(), "the service ended"
            assert time.monotonic() < end, "the service did not start"
            time.sleep(0.01)

    def stop(self) -> None:
        """End it as a signal does."""
        self.soon(self.queue.drain(0.0))
        self._server.should_exit = True
        self._thread.join(START_SECONDS)
        assert not self._thread.is_alive(), "the service does not end"

    def soon(self, what: Any) -> Any:
        """Run a coroutine in the loop and return its result."""
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(START_SECONDS)

    def answered(self, *grades: tuple[Job, Grade]) -> None:
        """Record these answers as of now."""

        async def note() -> None:
            for job, grade in grades:
                self.events.add(GradedEvent(job, EncodedGrade(grade.model_dump_json().encode()), time.time(), 0.0))

        self.soon(note())


def of_code(submission: Submission, _: int) -> str:
    """Return the verdict that the code names."""
    return deserved(submission.code)


@contextmanager
def stage(script: Script = of_code, port: int = 0, **settings: Any) -> Iterator[Stage]:
    """Yield a service with these settings and end it as a signal does."""
    running = Stage(Settings(**{"cache_seconds": 0.0} | settings), script, port or free_port())
    running.start()
    try:
        yield running
    finally:
        running.stop()


def job(name: str = "one", tests: list[Any] | None = None, **fields: Any) -> Job:
    """Return a job with its own tests."""
    suite = suites.of_tests(tests or [StdinTest(input="in", output="out")])
    return job_of(Submission(**{"id": name, "code": "print()", "suite": suite.id} | fields), suite, "key")


def grade(name: str = "one", verdict: str = "AC", seconds: float = 0.01, *tests: TestResult, **fields: Any) -> Grade:
    """Return a grade, with one test by default."""
    found = tests or (TestResult(index=0, verdict=Verdict(verdict)),)
    return Grade(
        **{
            "id": name,
            "verdict": verdict,
            "reward": None if verdict == "IE" else float(verdict == "AC"),
            "passed": sum(test.verdict == Verdict.AC for test in found),
            "total": len(found),
            "tests": list(found),
            "timing": Timing(queued_seconds=0.001, graded_seconds=seconds),
        }
        | fields
    )
