"""The asyncio client: its public methods. The other modules implement them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Self
from urllib.parse import quote

from sandbox_service.client import single_grading
from sandbox_service.client.batch_grading import BatchGrading
from sandbox_service.client.batching import Given, single
from sandbox_service.client.errors import GraderFaultError
from sandbox_service.client.grade_decoding import reason_of
from sandbox_service.client.progress import Progress, shown
from sandbox_service.client.retries import NoAnswerError, Peer
from sandbox_service.client.suites import Suite, SuiteCache
from sandbox_service.client.transport import Answer, HttpTransport
from sandbox_service.schema import Grade

KEY_VARIABLE = "PROCTOR_API_KEY"
PATIENCE_SECONDS = 600.0

OnFault = Literal["none", "raise"]
Notice = Callable[[str], None]

log = logging.getLogger(__name__)


class AsyncClient:
    """A client of one service, for any number of tasks of one event loop.

    A request that fails because the service is unavailable is retried for up to `patience_seconds`. Cancelling a task
    cancels its submissions in the service. All methods that grade raise ServiceUnavailableError, RefusedError, and
    NotProctorError if something else answers at the address.

    Args:
        service: The service's address, or a Peer, which also names it and its settings in messages.
        key: The API key; default: the environment variable PROCTOR_API_KEY.
        patience_seconds: Time to wait for an unavailable service, and for an answer.
        notice: Called when the service becomes unavailable, at most every 5 s, and when it is back; default: the log.
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
        self._service = HttpTransport(service, notice or log.warning)
        self._suites = SuiteCache()

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Peer, Notice | None]]:
        """Pickle the settings; a copy opens its own connections."""
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
        """Total seconds for which the service was unavailable."""
        return self._service.outage.seconds

    async def close(self) -> None:
        """Close the connections."""
        await self._service.close()

    async def grade(self, *, name: str = "", on_fault: OnFault = "none", **fields: Any) -> Grade:
        """Grade one submission.

        Args:
            name: The submission's name in messages.
            on_fault: "none" returns a grade whose reward is None if there is no verdict; "raise" raises
                GraderFaultError.
            **fields: The fields of a `schema.Submission`, as plain values or models; `suite` may be a Suite.

        Returns:
            The grade.

        Raises:
            GraderFaultError: There is no verdict, and `on_fault` is "raise".
        """
        _check(on_fault)
        submission, suite = single(fields)
        suite = suite or self._suites.kept(submission.get("suite", ""))
        name = name or f"submission {submission['id']!r}"
        found = await single_grading.grade(self._service, self._suites, submission, suite, name)
        _raise_faults([found], on_fault)
        return found

    async def grade_many(
        self,
        submissions: Iterable[Given],
        *,
        defaults: Mapping[str, Any] | None = None,
        progress: Progress = None,
        on_fault: OnFault = "none",
    ) -> list[Grade]:
        """Grade many submissions.

        Args:
            submissions: Submissions or their fields.
            defaults: Fields of every submission that does not set them.
            progress: True for a progress bar, or lines, on stderr; or a function that gets the count done and the
                total.
            on_fault: As in `grade`. The exception is raised when all are answered and contains all grades.

        Returns:
            The grades, in the order of the submissions.

        Raises:
            GraderFaultError: A submission has no verdict, and `on_fault` is "raise".
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

            await BatchGrading(self._service, self._suites, given, defaults or {}, take).run()
        found = [grade for grade in grades if grade is not None]
        _raise_faults(found, on_fault)
        return found

    async def grade_as_completed(
        self, submissions: Iterable[Given], *, defaults: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Grade, None]:
        """Yield each grade as it arrives; `Grade.id` names the submission. `aclose` cancels the rest.

        Args:
            submissions: Submissions or their fields.
            defaults: Fields of every submission that does not set them.
        """
        finished: asyncio.Queue[Grade | None] = asyncio.Queue()
        many = BatchGrading(
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
        """Store tests for use by any number of submissions. If the service loses them, they are uploaded again.

        Args:
            tests: The tests, as plain values or models.
            checker: The checker for submissions that have none.
            limits: The limits for submissions that have none.

        Returns:
            The id, for the `suite` of submissions.
        """
        suite = Suite.of(tests, checker, limits)
        self._suites.keep(suite)
        await single_grading.put(self._service, self._suites, suite, "the suite", self._suites.puts(suite.id))
        return suite.id

    async def cancel(self, submission_id: str) -> int:
        """Cancel a submission, by whichever client it was sent. Return the number cancelled."""
        return await self._cancelled(f"/v1/submissions/{quote(submission_id, safe='')}")

    async def cancel_labelled(self, name: str, value: str) -> int:
        """Cancel all submissions that have the label `name` with this value, by whichever client they were sent.

        Returns:
            The number cancelled.
        """
        return await self._cancelled(f"/v1/submissions?label={quote(f'{name}={value}', safe='')}")

    async def languages(self) -> Answer:
        """Return the supported languages and their versions."""
        status, answer = await self._service.ask("GET", "/v1/languages")
        if status != 200:
            raise self._service.refusal(status, answer, "to say its languages")
        return answer

    async def ready(self) -> bool:
        """Return True if the service can grade now. Does not wait for a service that is unavailable."""
        try:
            status, _ = await self._service.try_once("GET", "/readyz")
        except NoAnswerError:
            return False
        return status == 200

    async def _cancelled(self, path: str) -> int:
        status, answer = await self._service.ask("DELETE", path)
        if status != 200:
            raise self._service.refusal(status, answer, "to cancel")
        return int(answer.get("cancelled", 0))


def _check(on_fault: OnFault) -> None:
    if on_fault not in ("none", "raise"):
        raise ValueError(f'on_fault should be "none" or "raise", not {on_fault!r}')


def _raise_faults(grades: Sequence[Grade], on_fault: OnFault) -> None:
    """Raise GraderFaultError if `on_fault` is "raise" and a grade has no reward."""
    faults = [grade for grade in grades if grade.reward is None]
    if not faults or on_fault == "none":
        return
    first = faults[0]
    raise GraderFaultError(
        f"{len(faults)} of {len(grades)} have no verdict; the first is {first.id!r}: {reason_of(first)}",
        first.failure_kind or "",
        first.failure_reason or "",
        grades,
    )
