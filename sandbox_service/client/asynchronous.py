"""The client, in an event loop: what can be asked, and in which words. How it is done is said in the other modules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Self
from urllib.parse import quote

from sandbox_service.client import grading
from sandbox_service.client.answers import reason_of
from sandbox_service.client.errors import Fault
from sandbox_service.client.many import Many
from sandbox_service.client.packing import Given, one
from sandbox_service.client.progress import Progress, shown
from sandbox_service.client.service import Answer, Nobody, Peer, Service
from sandbox_service.client.suites import Suite, Suites
from sandbox_service.schema import Grade

KEY_VARIABLE = "PROCTOR_API_KEY"
PATIENCE_SECONDS = 600.0

OnFault = Literal["none", "raise"]
Notice = Callable[[str], None]

log = logging.getLogger(__name__)


class AsyncClient:
    """Asks one service. To be used and closed in one event loop, by any number of its tasks.

    `service` is its address, or a Peer that also says what things are called in messages. The key is PROCTOR_API_KEY's
    unless one is given. Nobody there is waited for, up to `patience_seconds`; an answer may take as long. `notice` is
    told at most every 5 s that nobody is there, and when somebody is back; it is logged unless somebody is named.

    All that grades raises Away, Refused, and Stranger for what is no such service. A task that is cancelled takes back
    what it has asked for: the service stops grading it.
    """

    def __init__(
        self,
        service: str | Peer,
        *,
        key: str | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        notice: Notice | None = None,
    ) -> None:
        if isinstance(service, str):
            service = Peer(service, patience_seconds, KEY_VARIABLE, key)
        self._peer = service
        self._notice = notice
        self._service = Service(service, notice or log.warning)
        self._suites = Suites()

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Peer, Notice | None]]:
        """Its settings: a copy elsewhere has connections of its own."""
        return type(self)._made, (self._peer, self._notice)

    @classmethod
    def _made(cls, peer: Peer, notice: Notice | None) -> Self:
        return cls(peer, notice=notice)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def away_seconds(self) -> float:
        """How long the service has been away, in all."""
        return self._service.outage.seconds

    async def close(self) -> None:
        """Let go of the connections."""
        await self._service.close()

    async def grade(self, *, name: str = "", on_fault: OnFault = "none", **fields: Any) -> Grade:
        """The grade of one submission: `fields` are a `schema.Submission`'s, as dicts or nouns; `suite` may be a Suite.

        `name` is what it is called in messages. Without a verdict the reward is None, or Fault is raised.
        """
        _check(on_fault)
        submission, suite = one(fields)
        suite = suite or self._suites.kept(submission.get("suite", ""))
        name = name or f"submission {submission['id']!r}"
        found = await grading.grade(self._service, self._suites, submission, suite, name)
        _settle([found], on_fault)
        return found

    async def grade_many(
        self,
        submissions: Iterable[Given],
        *,
        defaults: Mapping[str, Any] | None = None,
        progress: Progress = None,
        on_fault: OnFault = "none",
    ) -> list[Grade]:
        """The grades in the order given. `defaults`: fields that all have which do not say otherwise.

        `progress`: True for a bar or lines on stderr, or a function of how many are done and of how many. With
        `on_fault="raise"` Fault is raised once all are answered, and has all grades.
        """
        _check(on_fault)
        given = list(submissions)
        grades: list[Grade | None] = [None] * len(given)
        done = 0
        with shown(progress, len(given)) as tell:

            def take(place: int, grade: Grade) -> None:
                nonlocal done
                grades[place], done = grade, done + 1
                tell(done)

            await Many(self._service, self._suites, given, defaults or {}, take).run()
        found = [grade for grade in grades if grade is not None]
        _settle(found, on_fault)
        return found

    async def grade_as_completed(
        self, submissions: Iterable[Given], *, defaults: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Grade, None]:
        """Each grade as it comes; `Grade.id` says whose it is. What is left undone is taken back (`aclose`)."""
        finished: asyncio.Queue[Grade | None] = asyncio.Queue()
        many = Many(
            self._service, self._suites, list(submissions), defaults or {}, lambda _, grade: finished.put_nowait(grade)
        )
        work = asyncio.create_task(many.run())
        work.add_done_callback(lambda _: finished.put_nowait(None))
        try:
            while (grade := await finished.get()) is not None:
                yield grade
            work.result()
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(work, return_exceptions=True)

    async def put_suite(self, tests: Sequence[Any], *, checker: Any = None, limits: Any = None) -> str:
        """Store tests for any number of submissions; the id, to be their `suite`. What is lost is put again."""
        suite = Suite.of(tests, checker, limits)
        self._suites.keep(suite)
        await grading.put(self._service, self._suites, suite, "the suite", self._suites.puts(suite.id))
        return suite.id

    async def cancel(self, submission_id: str) -> int:
        """Stop one, whoever asked for it; how many that were."""
        return await self._cancelled(f"/v1/submissions/{quote(submission_id, safe='')}")

    async def cancel_labelled(self, name: str, value: str) -> int:
        """Stop all with this label, whoever asked for them; how many that were."""
        return await self._cancelled(f"/v1/submissions?label={quote(f'{name}={value}', safe='')}")

    async def languages(self) -> Answer:
        """What can be graded, and the interpreters' versions."""
        status, answer = await self._service.ask("GET", "/v1/languages")
        if status != 200:
            raise self._service.refusal(status, answer, "to say its languages")
        return answer

    async def ready(self) -> bool:
        """Whether something can be graded there now. Nobody is waited for."""
        try:
            status, _ = await self._service.try_once("GET", "/readyz")
        except Nobody:
            return False
        return status == 200

    async def _cancelled(self, path: str) -> int:
        status, answer = await self._service.ask("DELETE", path)
        if status != 200:
            raise self._service.refusal(status, answer, "to cancel")
        return int(answer.get("cancelled", 0))


def _check(on_fault: OnFault) -> None:
    if on_fault not in ("none", "raise"):
        raise ValueError(f'on_fault is "none" or "raise", not {on_fault!r}')


def _settle(grades: Sequence[Grade], on_fault: OnFault) -> None:
    """Raises Fault if that is wanted, and there is one."""
    faults = [grade for grade in grades if grade.reward is None]
    if not faults or on_fault == "none":
        return
    first = faults[0]
    raise Fault(
        f"{len(faults)} of {len(grades)} have no verdict; the first is {first.id!r}: {reason_of(first)}",
        first.failure_kind or "",
        first.failure_reason or "",
        grades,
    )
