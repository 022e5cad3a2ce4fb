"""Turns request bodies into jobs: parses and validates submissions, assigns ids and suites, and checks the limits."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Annotated, Any, Self

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from sandbox_service import languages
from sandbox_service.api import json_bounds
from sandbox_service.api.request_body import LargeBodyError
from sandbox_service.errors import (
    BadRequestError,
    BodyTooLargeError,
    LimitTooHighError,
    UnknownSuiteError,
    UnsupportedLanguageError,
)
from sandbox_service.errors.fields import describe
from sandbox_service.formats import modes
from sandbox_service.grading import admission, suites
from sandbox_service.grading.suites import Suite
from sandbox_service.languages import toolchains
from sandbox_service.queues.base import PRIORITIES, Job, job_of
from sandbox_service.schema import (
    BatchRequest,
    CompileLimits,
    JudgeProgram,
    Limits,
    Submission,
    SuiteChecker,
    TestCase,
)
from sandbox_service.settings import Settings

FindSuite = Callable[[str], Awaitable[Suite | None]]

PROGRAM_FIELDS = frozenset({"code", "completion", "id"})  # fields that differ between the submissions of a batch
ID_BYTES = 12  # random, so ids do not collide
SHOWN_ID = 80  # characters, in an error
LONG_ID = 64  # characters; longer ids need full validation

SMALL_BODY_BYTES = 1 << 20  # up to here pydantic parses the JSON, which is faster and takes more memory
YIELD_EVERY = 100  # submissions of a batch, then the event loop serves other requests

_TESTS = TypeAdapter(Annotated[list[TestCase], Field(fail_fast=True)])


class Intake:
    """Makes jobs from the submissions of one request.

    Args:
        settings: The service's settings, with the limits.
        find_suite: Looks up a suite by its id.
        key: The name of the API key that the request carried.
    """

    def __init__(self, settings: Settings, find_suite: FindSuite, key: str = "") -> None:
        self._settings = settings
        self._find_suite = find_suite
        self._key = key
        self._suites: dict[str, Suite] = {}  # of this request, so that each suite is looked up once
        self._names = _names(1)
        self._uncharged: set[str] = set()  # suites sent inline: the first job that uses one counts its bytes

    async def one(self, body: bytes, *, keep: bool = False) -> Job:
        """Return the job of a single submission.

        Args:
            body: The request body, JSON.
            keep: True if the answer is to be kept for later requests.

        Raises:
            ValidationError: A field is invalid.
            BadRequestError: The submission cannot be graded as it stands.
            LargeBodyError: The submission is too large for the event loop.
        """
        if len(body) <= SMALL_BODY_BYTES:
            return await self.of(Submission.model_validate_json(body), keep=keep, source=body)
        found = json_bounds.parse(body, self._settings.max_body_bytes)
        json_bounds.check_submission(found, self._settings.max_tests)
        return await self.of(Submission.model_validate(found), keep=keep, source=body)

    async def many(self, body: bytes) -> list[Job]:
        """Return the jobs of a batch, whose `defaults` complete each submission.

        Args:
            body: The request body, JSON.

        Raises:
            ValidationError: A field of the batch is invalid.
            BadRequestError: A submission is invalid; the message names it.
            BodyTooLargeError: The batch has too many submissions.
            LargeBodyError: The batch is too large for the event loop.
        """
        found = json_bounds.parse(body, self._settings.max_body_bytes)
        json_bounds.check_fields("body", found)
        batch = BatchRequest.model_validate(found)
        if len(batch.submissions) > self._settings.max_batch:
            raise BodyTooLargeError(
                f"{len(batch.submissions)} submissions in one batch, the most is {self._settings.max_batch}"
            )
        json_bounds.check_submission(batch.defaults, self._settings.max_tests)
        defaults = self._once(batch.defaults)
        jobs: list[Job] = []
        self._names = _names(len(batch.submissions))
        patterns: dict[str | None, _JobTemplate | None] = {}
        for index, given in enumerate(batch.submissions):
            if index % YIELD_EVERY == YIELD_EVERY - 1:
                await asyncio.sleep(0)
            suite = given.get("suite")
            suite = suite if isinstance(suite, str) else None
            pattern = patterns.get(suite)
            job = pattern.job(given, self._names) if pattern else None
            if job is None:
                job = await self._merged(index, defaults, given)
                patterns[suite] = pattern or _JobTemplate.of(job, defaults, given)
            jobs.append(job)
        if len({job.id for job in jobs}) < len(jobs):
            [(twice, _)] = Counter(job.id for job in jobs).most_common(1)
            raise BadRequestError(
                f"two submissions of the batch have the id {twice[:SHOWN_ID]!r}; give each an id of its own or none"
            )
        return jobs

    def _once(self, defaults: dict[str, Any]) -> dict[str, Any]:
        """Return the defaults with a suite in place of tests, so that shared tests are parsed only once."""
        if "tests" not in defaults or "suite" in defaults:
            return defaults
        try:
            suite = suites.of_tests(_TESTS.validate_python(defaults["tests"]))
        except ValidationError as error:
            raise BadRequestError("defaults: " + describe(error, ("tests",))) from None
        if not suite.tests:
            return defaults  # validation refuses the empty list
        self._suites[suite.id] = suite
        self._uncharged.add(suite.id)
        return {name: value for name, value in defaults.items() if name != "tests"} | {"suite": suite.id}

    async def _merged(self, index: int, defaults: dict[str, Any], given: dict[str, Any]) -> Job:
        json_bounds.check_submission(given, self._settings.max_tests)
        whole = defaults | given
        if "tests" in given and "suite" not in given:
            whole.pop("suite", None)
        try:
            return await self.of(Submission.model_validate(whole))
        except ValidationError as error:
            raise BadRequestError(f"submissions[{index}]: {describe(error)}") from None
        except BadRequestError as error:
            raise type(error)(f"submissions[{index}]: {error}") from None

    async def of(self, submission: Submission, *, keep: bool = False, source: bytes = b"") -> Job:
        """Return the job of a validated submission.

        Args:
            submission: The submission.
            keep: True if the answer is to be kept for later requests.
            source: The bytes that the submission was parsed from, if known.

        Raises:
            BadRequestError: The submission cannot be graded as it stands.
            UnknownSuiteError: No suite has this id.
            LargeBodyError: The suite is too large for the event loop.
        """
        language = languages.find(submission.language)
        if not self._settings.redis_url:  # this machine grades
            toolchains.require(language)
        if submission.tests is not None:
            checker = submission.checker if isinstance(submission.checker, JudgeProgram) else None
            suite = suites.of_tests(submission.tests, source, checker=checker, interactor=submission.interactor)
            self._uncharged.add(suite.id)
        else:
            suite = await self._suite(submission.suite or "")
        changes: dict[str, Any] = {"tests": None, "suite": suite.id}
        given = submission.model_fields_set
        if suite.checker is not None and ("checker" not in given or submission.tests is not None):
            is_program = isinstance(suite.checker, JudgeProgram)
            changes["checker"] = SuiteChecker(type="suite") if is_program else suite.checker
        if submission.tests is not None:
            changes["interactor"] = None  # it is in the suite now
        if suite.groups is not None and submission.groups is None:
            changes["groups"] = suite.groups
        if suite.limits is not None:
            changes["limits"] = submission.limits.under(suite.limits) if "limits" in given else suite.limits
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
                raise UnknownSuiteError(
                    f"{suite_id} is not known here: PUT /v1/suites/{suite_id.removeprefix('sha256:')}"
                )
            if not found.is_read:
                raise LargeBodyError
            self._suites[suite_id] = found
        return self._suites[suite_id]

    def _check(self, submission: Submission, suite: Suite) -> None:
        check_tests(suite.count, self._settings)
        if admission.looks_at_tests(submission) and not suite.tests:
            raise LargeBodyError
        admission.check(submission, suite)
        check_limits(submission.limits, self._settings)
        check_compile_limits(submission.compile_limits, self._settings)
        judges = admission.judges_of(submission, suite)
        for judge in judges:
            check_limits(judge.limits, self._settings)
        if judges and not self._settings.redis_url:  # else the queue knows the workers' languages
            for judge in admission.judges_run(submission, suite):
                require_for_judge(judge)
        check_display(submission.display_bytes, self._settings)
        priority = submission.labels.get("priority", "normal")
        if priority not in PRIORITIES:
            raise BadRequestError(f"labels.priority is {priority[:40]!r}; should be one of {', '.join(PRIORITIES)}")


class _JobTemplate:
    """Makes jobs from submissions of one suite that differ only in their program and id.

    After one such submission was fully validated, only the program of the next is new, and any text is valid. Skipping
    the pydantic model saves most of the intake's time.
    """

    def __init__(self, like: Job, name: str, before: bytes, after: bytes) -> None:
        self._like = like
        self._suite = like.suite.id
        self._name = name
        self._before = before
        self._after = after

    @classmethod
    def of(cls, job: Job, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> Self | None:
        """Return a template made from a submission that was validated.

        Args:
            job: made from the submission.
            defaults: fields of every submission that does not set them.
            given: fields of this submission.

        Returns:
            The template; None if `given` has more than a program, an id and a suite, or its tests follow from the id.
        """
        name = "code" if "code" in given else "completion"
        if name not in given or given.keys() - {name, "id", "suite"} or not defaults.keys().isdisjoint(PROGRAM_FIELDS):
            return None
        if "submission" in dict(defaults.get("sample") or {}).values():  # its tests follow from the id
            return None
        key = b'"%s":' % name.encode()
        before, program, after = job.body.partition(key + orjson.dumps(given[name]))
        return cls(job, name, before + key, after) if program else None

    def job(self, given: Mapping[str, Any], names: Iterator[str]) -> Job | None:
        """Return the job of another submission.

        Args:
            given: its fields.
            names: new ids, for a submission without one.

        Returns:
            The job; None if the submission needs full validation.
        """
        program, id_ = given.get(self._name), given.get("id", "")
        if not isinstance(program, str) or not isinstance(id_, str) or given.get("suite", self._suite) != self._suite:
            return None
        if len(given) != 1 + ("id" in given) + ("suite" in given):
            return None
        if len(id_) > LONG_ID:
            return None
        return self._like.like(id_ or next(names), self._before + orjson.dumps(program) + self._after)


def _names(at_once: int) -> Iterator[str]:
    """Yield unguessable ids without end. They are drawn many at once, which is faster."""
    width = 2 * ID_BYTES
    while True:
        drawn = secrets.token_hex(ID_BYTES * at_once)
        yield from [drawn[at : at + width] for at in range(0, len(drawn), width)]


def require_for_judge(judge: JudgeProgram) -> None:
    """Raise UnsupportedLanguageError if a judge program cannot be run on this machine."""
    try:
        toolchains.require(languages.find(judge.language))
    except UnsupportedLanguageError as error:
        raise UnsupportedLanguageError(f"the judge program's {error}") from None


def check_tests(tests: int, settings: Settings) -> None:
    """Raise LimitTooHighError if a submission has too many tests."""
    if tests > settings.max_tests:
        raise LimitTooHighError(f"{tests} tests, the most is {settings.max_tests} (SANDBOX_MAX_TESTS)")


def check_limits(limits: Limits, settings: Settings) -> None:
    """Raise LimitTooHighError, naming the limit, if a limit exceeds the service's."""
    for name in ("cpu_seconds", "memory_bytes", "output_bytes", "processes"):
        value, most = getattr(limits, name), getattr(settings, f"max_{name}")
        if not value <= most:  # NaN is not
            raise LimitTooHighError(
                f"limits.{name} is {_shown(value)}, the most is {most:g} (SANDBOX_MAX_{name.upper()})"
            )
    if limits.wall > settings.max_wall_seconds:
        most = settings.max_wall_seconds
        raise LimitTooHighError(
            f"limits.wall_seconds is {limits.wall:g}, the most is {most:g} (SANDBOX_MAX_WALL_SECONDS)"
        )


def check_compile_limits(limits: CompileLimits, settings: Settings) -> None:
    """Raise LimitTooHighError, naming the limit, if a compiler may not have as much as is asked for it."""
    for name, value in limits:
        if value is not None and not value <= (most := getattr(settings, f"compile_{name}")):
            raise LimitTooHighError(
                f"compile_limits.{name} is {_shown(value)}, the most is {most:g} (SANDBOX_COMPILE_{name.upper()})"
            )


def check_display(display_bytes: int | None, settings: Settings) -> None:
    """Raise LimitTooHighError if `display_bytes` exceeds the service's limit."""
    if display_bytes is not None and display_bytes > settings.max_display_bytes:
        most = settings.max_display_bytes
        raise LimitTooHighError(f"display_bytes is {display_bytes}, the most is {most} (SANDBOX_MAX_DISPLAY_BYTES)")


def _shown(number: float) -> str:
    """Return a few digits of a number. An integer may be beyond every float."""
    return f"{min(number, 1e300):g}"
