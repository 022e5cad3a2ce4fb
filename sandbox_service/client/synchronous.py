"""The client without an event loop: the asynchronous one, in a thread of its own with a loop of its own.

So it works where a loop runs already, as in a notebook, and from any number of threads. A process that was forked has
the object but not the thread; there it makes itself anew.
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
from sandbox_service.client.packing import Given
from sandbox_service.client.progress import Progress
from sandbox_service.client.service import Answer, Peer
from sandbox_service.schema import Grade

END_SECONDS = 10.0  # for the thread, when all is taken back

T = TypeVar("T")


class Client:
    """As AsyncClient, which says what everything means. To be used by any number of threads.

    KeyboardInterrupt takes back what was asked for: the service stops grading it. `close` does as well; what is used
    after that begins anew.
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
        """Its settings: a copy elsewhere has connections of its own."""
        return type(self)._made, (self._like,)

    @classmethod
    def _made(cls, like: AsyncClient) -> Self:
        made = cls.__new__(cls)
        made._begin(like)
        return made

    def _begin(self, like: AsyncClient) -> None:
        self._like = like  # never used but to make others
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._thread: _Thread | None = None
        self._end: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections, and of the thread."""
        if self._pid == os.getpid():
            with self._lock:
                self._thread = None
            self._end()

    def grade(self, *, name: str = "", on_fault: OnFault = "none", **fields: Any) -> Grade:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.grade(name=name, on_fault=on_fault, **fields))

    def grade_many(
        self,
        submissions: Iterable[Given],
        *,
        defaults: Mapping[str, Any] | None = None,
        progress: Progress = None,
        on_fault: OnFault = "none",
    ) -> list[Grade]:
        """See AsyncClient. A function for `progress` is called in the client's thread."""
        given, there = list(submissions), self._there()
        return there.do(there.client.grade_many(given, defaults=defaults, progress=progress, on_fault=on_fault))

    def grade_as_completed(
        self, submissions: Iterable[Given], *, defaults: Mapping[str, Any] | None = None
    ) -> Iterator[Grade]:
        """See AsyncClient. What is left undone when the loop over it ends is taken back."""
        given, there = list(submissions), self._there()
        found = there.client.grade_as_completed(given, defaults=defaults)

        async def following() -> Grade | None:
            return await anext(found, None)

        try:
            while (grade := there.do(following())) is not None:
                yield grade
        finally:
            there.undo(found.aclose())

    def put_suite(self, tests: Sequence[Any], *, checker: Any = None, limits: Any = None) -> str:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.put_suite(tests, checker=checker, limits=limits))

    def cancel(self, submission_id: str) -> int:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.cancel(submission_id))

    def cancel_labelled(self, name: str, value: str) -> int:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.cancel_labelled(name, value))

    def languages(self) -> Answer:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.languages())

    def ready(self) -> bool:
        """See AsyncClient."""
        there = self._there()
        return there.do(there.client.ready())

    def _there(self) -> _Thread:
        """The thread of this process."""
        if self._pid != os.getpid():  # forked: the thread stayed with the parent, and the lock may have been held
            self._begin(self._like)
        with self._lock:
            if self._thread is None:
                self._thread = _Thread(copy.copy(self._like))
                self._end = weakref.finalize(self, self._thread.end)  # also when it is forgotten, or at the exit
            return self._thread


class _Thread:
    """A loop, and the asynchronous client that lives in it."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._pid = os.getpid()
        self._lock = threading.RLock()  # the collector of garbage may come in between, in the same thread
        self._is_ended = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="proctor-client", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it there and wait for it; if the wait is interrupted it is cancelled."""
        try:
            future = self._schedule(work)
        except RuntimeError:
            work.close()
            raise
        try:
            return future.result()
        finally:
            future.cancel()

    def undo(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it there, unless all is taken back already. Who forgets a generator may be anybody, even the loop."""
        with self._lock:
            if self._is_ended:
                work.close()
                return
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        if threading.current_thread() is not self._thread:
            future.result()

    def end(self) -> None:
        """Cancel what is being done, and end the thread. In a forked process there is nothing to end."""
        if self._pid != os.getpid():
            return
        with self._lock:  # so that nothing is scheduled behind the end, where nobody would do it
            if not self._is_ended:
                asyncio.run_coroutine_threadsafe(self._finish(), self._loop)
            self._is_ended = True
        if threading.current_thread() is not self._thread:
            self._thread.join(END_SECONDS)

    def _schedule(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        if threading.current_thread() is self._thread:
            raise RuntimeError("this client waits for itself: it cannot be asked from its own progress or notice")
        with self._lock:
            if self._is_ended:
                raise RuntimeError("this client was closed while it was asked")
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
