"""The client without asyncio: runs the asynchronous client in an event loop in a thread of its own.

So it works where an event loop is already running, as in a notebook, and from any number of threads. After a fork it
starts a new thread in the child.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from sandbox_service.client.asynchronous import PATIENCE_SECONDS, AsyncClient, Notice, OnFault
from sandbox_service.client.batching import Given
from sandbox_service.client.progress import Progress
from sandbox_service.client.retries import Peer
from sandbox_service.client.transport import Answer
from sandbox_service.schema import Grade

END_SECONDS = 10.0  # for the thread to end, once all work is cancelled

T = TypeVar("T")


class Client:
    """The synchronous form of AsyncClient, for any number of threads. AsyncClient documents the arguments.

    KeyboardInterrupt and `close` cancel open submissions in the service. A closed client can be used again.
    """

    def __init__(
        self,
        service: str | Peer,
        *,
        key: str | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        notice: Notice | None = None,
    ) -> None:
        self._begin(AsyncClient(service, key=key, patience_seconds=patience_seconds, notice=notice))

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[AsyncClient]]:
        """Pickle the settings; a copy opens its own connections."""
        return type(self)._made, (self._like,)

    @classmethod
    def _made(cls, like: AsyncClient) -> Self:
        made = cls.__new__(cls)
        made._begin(like)
        return made

    def _begin(self, like: AsyncClient) -> None:
        self._like = like  # a template; only copies of it are used
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._thread: _Thread | None = None
        self._end: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread."""
        if self._pid == os.getpid():
            with self._lock:
                self._thread = None
            self._end()

    def grade(self, *, name: str = "", on_fault: OnFault = "none", **fields: Any) -> Grade:
        """Return the grade of one submission; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.grade(name=name, on_fault=on_fault, **fields))

    def grade_many(
        self,
        submissions: Iterable[Given],
        *,
        defaults: Mapping[str, Any] | None = None,
        progress: Progress = None,
        on_fault: OnFault = "none",
    ) -> list[Grade]:
        """See AsyncClient. A function for `progress` is called in the client's thread."""
        given, thread = list(submissions), self._running_thread()
        return thread.run(thread.client.grade_many(given, defaults=defaults, progress=progress, on_fault=on_fault))

    def grade_as_completed(
        self, submissions: Iterable[Given], *, defaults: Mapping[str, Any] | None = None
    ) -> Iterator[Grade]:
        """See AsyncClient. Leaving the loop cancels the rest."""
        given, thread = list(submissions), self._running_thread()
        found = thread.client.grade_as_completed(given, defaults=defaults)

        async def following() -> Grade | None:
            return await anext(found, None)

        try:
            while (grade := thread.run(following())) is not None:
                yield grade
        finally:
            thread.run_cleanup(found.aclose())

    def put_suite(self, tests: Sequence[Any], *, checker: Any = None, limits: Any = None) -> str:
        """Store tests and return the suite's id; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.put_suite(tests, checker=checker, limits=limits))

    def cancel(self, submission_id: str) -> int:
        """Cancel a submission and return the number cancelled; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.cancel(submission_id))

    def cancel_labelled(self, name: str, value: str) -> int:
        """Cancel all submissions with a label and return the number cancelled; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.cancel_labelled(name, value))

    def languages(self) -> Answer:
        """Return the supported languages; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.languages())

    def ready(self) -> bool:
        """Return True if the service can grade now; see AsyncClient."""
        thread = self._running_thread()
        return thread.run(thread.client.ready())

    def _running_thread(self) -> _Thread:
        """Return the thread of this process, started if necessary."""
        if self._pid != os.getpid():  # forked: the thread stayed with the parent, and the lock may have been held
            self._begin(self._like)
        with self._lock:
            if self._thread is None:
                self._thread = _Thread(copy.copy(self._like))
                self._end = weakref.finalize(self, self._thread.end)  # also on garbage collection and at exit
            return self._thread


class _Thread:
    """A thread with an event loop and the asynchronous client that runs in it."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._pid = os.getpid()
        self._lock = threading.RLock()  # the garbage collector may call run_cleanup in the same thread
        self._is_ended = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="proctor-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for its result. An interrupted wait cancels it."""
        try:
            future = self._schedule(work)
        except RuntimeError:
            work.close()
            raise
        try:
            return future.result()
        finally:
            future.cancel()

    def run_cleanup(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a cleanup coroutine, unless the loop has ended. The garbage collector may call this in any thread."""
        with self._lock:
            if self._is_ended:
                work.close()
                return
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        if threading.current_thread() is not self._thread:
            future.result()

    def end(self) -> None:
        """Cancel all work and end the thread. Do nothing in a forked process, which has no such thread."""
        if self._pid != os.getpid():
            return
        with self._lock:  # so that nothing is scheduled after the end
            if not self._is_ended:
                asyncio.run_coroutine_threadsafe(self._finish(), self._loop)
            self._is_ended = True
        if threading.current_thread() is not self._thread:
            self._thread.join(END_SECONDS)

    def _schedule(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        if threading.current_thread() is self._thread:
            raise RuntimeError("deadlock: this client was called from its own progress or notice function")
        with self._lock:
            if self._is_ended:
                raise RuntimeError("this client was closed during the call")
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _finish(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.close()
        await self._loop.shutdown_asyncgens()
        self._loop.stop()
