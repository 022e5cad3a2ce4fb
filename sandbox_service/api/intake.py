"""From a request's bytes to jobs that may be queued: parsed, with an id and a suite, within what is allowed here."""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Self

import orjson
from pydantic import TypeAdapter, ValidationError

from sandbox_service import gradable, languages, modes, suites
from sandbox_service.errors import BadRequest, BodyTooLarge, LimitTooHigh, UnknownSuite
from sandbox_service.queues.base import PRIORITIES, Job, job_of
from sandbox_service.schema import BatchRequest, Limits, Submission, TestCase
from sandbox_service.settings import Settings
from sandbox_service.suites import Suite

FindSuite = Callable[[str], Awaitable[Suite | None]]

OWN = frozenset({"code", "completion", "id"})  # what each of a batch's submissions says for itself
ID_BYTES = 12  # of chance: no two are ever the same
LONG_ID = 64  # one that is longer may be too long

_TESTS = TypeAdapter(list[TestCase])


class Intake:
    """Makes jobs of what one client sends. `key` names the API key that it came with."""

    def __init__(self, settings: Settings, find_suite: FindSuite, key: str = "") -> None:
        self._settings = settings
        self._find_suite = find_suite
        self._key = key
        self._suites: dict[str, Suite] = {}  # of this request, so that a group's suite is looked up once
        self._names = _names(1)
        self._uncharged: set[str] = set()  # those that came with it: the first submission of a group pays for its suite

    async def one(self, body: bytes, *, keep: bool = False) -> Job:
        """A single submission. Raises ValidationError, BadRequest."""
        return await self.of(Submission.model_validate_json(body), keep=keep)

    async def many(self, body: bytes) -> list[Job]:
        """A batch's submissions, completed by its defaults. Raises ValidationError, BadRequest naming the wrong one."""
        batch = BatchRequest.model_validate_json(body)
        if len(batch.submissions) > self._settings.max_batch:
            raise BodyTooLarge(
                f"{len(batch.submissions)} submissions in one batch, the most is {self._settings.max_batch}"
            )
        defaults = self._once(batch.defaults)
        jobs: list[Job] = []
        self._names = _names(len(batch.submissions))
        pattern: _Pattern | None = None
        for index, given in enumerate(batch.submissions):
            job = pattern.job(given, self._names) if pattern else None
            if job is None:
                job = await self._merged(index, defaults, given)
                pattern = pattern or _Pattern.of(job, defaults, given)
            jobs.append(job)
        if len({job.id for job in jobs}) < len(jobs):
            raise BadRequest("two submissions of a batch have the same id")
        return jobs

    def _once(self, defaults: dict[str, Any]) -> dict[str, Any]:
        """Defaults with a suite instead of tests, so that a group's tests are read once and not for each member."""
        if "tests" not in defaults or "suite" in defaults:
            return defaults
        try:
            suite = suites.of_tests(_TESTS.validate_python(defaults["tests"]))
        except ValidationError as error:
            raise BadRequest("defaults: " + describe(error, ("tests",))) from None
        if not suite.tests:
            return defaults  # to be refused as what it is
        self._suites[suite.id] = suite
        self._uncharged.add(suite.id)
        return {name: value for name, value in defaults.items() if name != "tests"} | {"suite": suite.id}

    async def _merged(self, index: int, defaults: dict[str, Any], given: dict[str, Any]) -> Job:
        whole = defaults | given
        if "tests" in given and "suite" not in given:
            whole.pop("suite", None)
        try:
            return await self.of(Submission.model_validate(whole))
        except ValidationError as error:
            raise BadRequest(f"submissions[{index}]: {describe(error)}") from None
        except BadRequest as error:
            raise type(error)(f"submissions[{index}]: {error}") from None

    async def of(self, submission: Submission, *, keep: bool = False) -> Job:
        """One that was read. Raises BadRequest."""
        languages.find(submission.language)
        if submission.tests is not None:
            suite = suites.of_tests(submission.tests)
            self._uncharged.add(suite.id)
        else:
            suite = await self._suite(submission.suite or "")
        changes: dict[str, Any] = {"tests": None, "suite": suite.id}
        given = submission.model_fields_set
        if suite.checker is not None and "checker" not in given:
            changes["checker"] = suite.checker
        if suite.limits is not None and "limits" not in given:
            changes["limits"] = suite.limits
        if submission.mode is not None:
            changes |= modes.replaced(submission.mode, given | changes.keys())
        if not submission.id:
            changes["id"] = next(self._names)
        complete = submission.model_copy(update=changes)
        self._check(complete, suite)
        own_bytes = len(suite.body) if suite.id in self._uncharged else 0
        self._uncharged.discard(suite.id)
        return job_of(complete, suite, self._key, keep=keep, own_bytes=own_bytes)

    async def _suite(self, suite_id: str) -> Suite:
        if suite_id not in self._suites:
            found = await self._find_suite(suite_id)
            if found is None:
                raise UnknownSuite(f"{suite_id} is not known here: PUT /v1/suites/{suite_id.removeprefix('sha256:')}")
            self._suites[suite_id] = found
        return self._suites[suite_id]

    def _check(self, submission: Submission, suite: Suite) -> None:
        check_tests(suite.tests, self._settings)
        gradable.check(submission, suite.tests)
        check_limits(submission.limits, self._settings)
        check_display(submission.display_bytes, self._settings)
        priority = submission.labels.get("priority", "normal")
        if priority not in PRIORITIES:
            raise BadRequest(f"labels.priority is {priority[:40]!r}; one of {', '.join(PRIORITIES)}")


class _Pattern:
    """What those of a batch have in common that say nothing but their program, and perhaps an id.

    When one of them was read with all care, only the program of the next is new, and it is any text. So no model need
    be made of it, which takes most of the time that a submission takes here.
    """

    def __init__(self, like: Job, name: str, before: bytes, after: bytes) -> None:
        self._like = like
        self._name = name
        self._before = before
        self._after = after

    @classmethod
    def of(cls, job: Job, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> Self | None:
        """What may be like this one, which was read; None if it says more than its program."""
        name = "code" if "code" in given else "completion"
        if name not in given or given.keys() - {name, "id"} or not defaults.keys().isdisjoint(OWN):
            return None
        key = b'"%s":' % name.encode()
        before, program, after = job.body.partition(key + orjson.dumps(given[name]))
        return cls(job, name, before + key, after) if program else None

    def job(self, given: Mapping[str, Any], names: Iterator[str]) -> Job | None:
        """The job of another one, by its id or the next of these; None if it may be otherwise, or wrong."""
        program, id_ = given.get(self._name), given.get("id", "")
        if not isinstance(program, str) or not isinstance(id_, str) or len(given) != 1 + ("id" in given):
            return None
        if len(id_) > LONG_ID:
            return None
        return self._like.like(id_ or next(names), self._before + orjson.dumps(program) + self._after)


def _names(at_once: int) -> Iterator[str]:
    """Ids that nobody can guess, without end; to make many at once is quicker."""
    width = 2 * ID_BYTES
    while True:
        drawn = secrets.token_hex(ID_BYTES * at_once)
        yield from [drawn[at : at + width] for at in range(0, len(drawn), width)]


def check_tests(tests: list[TestCase], settings: Settings) -> None:
    """Raises LimitTooHigh if there are more than a submission may have."""
    if len(tests) > settings.max_tests:
        raise LimitTooHigh(f"{len(tests)} tests, the most is {settings.max_tests} (SANDBOX_MAX_TESTS)")


def check_limits(limits: Limits, settings: Settings) -> None:
    """Raises LimitTooHigh naming the limit that is beyond what is allowed here."""
    for name in ("cpu_seconds", "memory_bytes", "output_bytes", "processes"):
        asked, most = getattr(limits, name), getattr(settings, f"max_{name}")
        if not math.isfinite(asked) or asked > most:
            raise LimitTooHigh(f"limits.{name} is {asked:g}, the most is {most:g} (SANDBOX_MAX_{name.upper()})")
    if limits.wall > settings.max_wall_seconds:
        most = settings.max_wall_seconds
        raise LimitTooHigh(f"limits.wall_seconds is {limits.wall:g}, the most is {most:g} (SANDBOX_MAX_WALL_SECONDS)")


def check_display(asked: int | None, settings: Settings) -> None:
    """Raises LimitTooHigh if an answer would show more than it may."""
    if asked is not None and asked > settings.max_display_bytes:
        most = settings.max_display_bytes
        raise LimitTooHigh(f"display_bytes is {asked}, the most is {most} (SANDBOX_MAX_DISPLAY_BYTES)")


def describe(error: ValidationError, within: tuple[str, ...] = ()) -> str:
    """What is wrong, field by field, in one line, without the values: they may be large, or secret."""
    shown = error.errors(include_url=False, include_context=False, include_input=False)[:8]
    parts = [f"{'.'.join(map(str, (*within, *each['loc']))) or 'body'}: {each['msg']}" for each in shown]
    more = error.error_count() - len(shown)
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
