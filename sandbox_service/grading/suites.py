"""Test suites, identified by the hash of their bytes, so that a suite is sent, stored and parsed once.

Tests that come inside a submission become a suite too: behind the API, all tests are suites.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError, from_json

from sandbox_service.errors import BadRequestError
from sandbox_service.schema import (
    AnyChecker,
    AssertTest,
    CallTest,
    InteractiveTest,
    JudgedTest,
    JudgeProgram,
    Limits,
    Sample,
    StdinTest,
    Submission,
    SuiteBody,
    SuiteChecker,
    TestCase,
    TestGroup,
)

# without this, NaN and Infinity would be written as null: another expected answer
_TESTS = TypeAdapter(list[TestCase], config=ConfigDict(ser_json_inf_nan="constants"))
T = TypeVar("T")
ID_LENGTH = len("sha256:") + 64
NEWER_FIELDS = {"group", "hidden", "needs_call", "cpu_seconds", "judge_arguments", "full_score", "role"}
LARGE_BYTES = 1 << 20  # from here on Python values are built at once: pydantic's own form takes five times as much


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests, and the bytes they were read from. The other fields are for submissions that have none of their own.

    `tests` is empty where another process has read the bytes; `read_elsewhere` is then the number of tests, or -1 if
    the bytes were not read at all.
    """

    id: str
    body: bytes
    tests: list[TestCase]
    checker: AnyChecker | None = None
    limits: Limits | None = None
    interactor: JudgeProgram | None = None
    groups: list[TestGroup] | None = None
    read_elsewhere: int = 0

    @property
    def count(self) -> int:
        """The number of tests."""
        return max(len(self.tests), self.read_elsewhere)

    @property
    def is_read(self) -> bool:
        """True if the number of tests is known."""
        return bool(self.tests) or self.read_elsewhere >= 0


_HUGE = re.compile(rb"[0-9]\.?[eE]\+?[0-9]{3}|(?<![0-9])[0-9]{309}[0-9]*+\.")  # numbers that may be beyond a float


def id_of(body: bytes) -> str:
    """Return the id of the suite with this body: the SHA-256 of its bytes."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def read(body: bytes) -> Suite:
    """Return the suite that a body describes in JSON. Raises pydantic's ValidationError."""
    found = SuiteBody.model_validate_json(body) if len(body) < LARGE_BYTES else _large(body)
    return Suite(id_of(body), body, found.tests, found.checker, found.limits, found.interactor, found.groups)


def _large(body: bytes) -> SuiteBody:
    try:
        found = from_json(body)
    except ValueError:
        return SuiteBody.model_validate_json(body)  # which names the faults
    return SuiteBody.model_validate(found)


def read_small(body: bytes, most: int) -> Suite:
    """As `read`, but leave a large suite unread.

    Args:
        body: the suite's bytes.
        most: the largest number of bytes that is read.

    Returns:
        The suite; without its tests if it is large.
    """
    return read(body) if len(body) <= most else Suite(id_of(body), body, [], read_elsewhere=-1)


def of_tests(
    tests: list[TestCase],
    source: bytes = b"",
    *,
    checker: JudgeProgram | None = None,
    interactor: JudgeProgram | None = None,
) -> Suite:
    """Return a suite of tests that came inside a submission, with the programs that judge them.

    Args:
        tests: the tests.
        source: the submission's JSON. A number there that is beyond a float is kept as it is written.
        checker: the submission's checker program.
        interactor: its interactor.

    Raises:
        BadRequestError: a text has a lone surrogate, which JSON can express and UTF-8 cannot.
    """
    try:
        judges = _judges(checker=checker, interactor=interactor)
        body = b'{"tests":' + _TESTS.dump_json(tests, exclude={"__all__": _unused_fields(tests)}) + judges + b"}"
    except PydanticSerializationError as error:
        raise BadRequestError(f"tests: {error}") from None
    if b"Infinity" in body and _HUGE.search(source):
        body = b'{"tests":' + _as_written(source) + judges + b"}"
    return Suite(id_of(body), body, tests, checker, interactor=interactor)


def _unused_fields(tests: Sequence[TestCase]) -> set[str]:
    """Return newer fields of tests that no test uses. They are left out, so that ids of suites last."""
    if NEWER_FIELDS.isdisjoint(itertools.chain.from_iterable(test.model_fields_set for test in tests)):
        return NEWER_FIELDS
    grouping = set() if any(map(_has_newer_fields, tests)) else {"group", "hidden", "needs_call"}
    if not any(test.cpu_seconds is not None for test in tests):
        grouping = grouping | {"cpu_seconds"}
    if not any(isinstance(test, JudgedTest) and test.asks_for_a_judge for test in tests):
        grouping = grouping | {"judge_arguments", "full_score"}
    return grouping if any(test.role == "audit" for test in tests) else grouping | {"role"}


def _has_newer_fields(test: TestCase) -> bool:
    return bool(test.group or test.hidden or (isinstance(test, AssertTest) and not test.needs_call))


def with_suite(submission: Submission, suite: Suite) -> Submission:
    """Return a submission with the tests of its suite, and the programs that stay in the suite until it is graded."""
    changes: dict[str, Any] = {"tests": suite.tests, "suite": None}
    if isinstance(submission.checker, SuiteChecker):
        changes["checker"] = suite.checker
    if submission.interactor is None:
        changes["interactor"] = suite.interactor
    return submission.model_copy(update=changes)


def _judges(**programs: JudgeProgram | None) -> bytes:
    """Return the programs as further fields of a suite's JSON."""
    given = {name: program for name, program in programs.items() if program is not None}
    parts = (f',"{name}":{program.model_dump_json(exclude_none=True)}' for name, program in given.items())
    return "".join(parts).encode()


def _as_written(source: bytes) -> bytes:
    """Return the tests of a submission's JSON, with all numbers as they are written there."""
    written = json.loads(
        source,
        parse_int=lambda digits: orjson.Fragment(digits.encode()),
        parse_float=lambda text: orjson.Fragment(text.encode()),
        parse_constant=lambda name: orjson.Fragment(name.encode()),
    )
    return orjson.dumps(written["tests"])


def chosen(tests: Sequence[TestCase], sample: Sample | None) -> list[tuple[int, TestCase]]:
    """Return the tests that a submission runs. A sample is one of the scored tests; audit tests are always among them.

    Args:
        tests: the suite's.
        sample: which of them to take; None for all.

    Returns:
        The tests with their index in the suite, in the suite's order.
    """
    numbered = [(index, test) for index, test in enumerate(tests) if test.role == "scored"]
    audit = [(index, test) for index, test in enumerate(tests) if test.role == "audit"]
    if sample is None or sample.count >= len(numbered):
        return list(enumerate(tests))
    if sample.rule == "first":
        return sorted(numbered[: sample.count] + audit, key=lambda each: each[0])
    if sample.rule == "longest":
        ranked = sorted(numbered, key=lambda each: -_length(each[1]))
    else:
        ranked = sorted(numbered, key=lambda each: _random_rank(sample.seed, each[0]))
    return sorted(ranked[: sample.count] + audit, key=lambda each: each[0])


def _random_rank(seed: int, index: int) -> bytes:
    """Return a test's rank by a hash, so that the choice does not depend on interpreter, version or order."""
    return hashlib.blake2b(f"{seed}/{index}".encode()).digest()


def _length(test: TestCase) -> int:
    """Return the length of a test's input, in characters."""
    match test:
        case StdinTest() | InteractiveTest():
            return len(test.input)
        case CallTest():
            return len(test.model_dump_json(include={"args", "kwargs", "calls"}, exclude_defaults=True))
        case AssertTest():
            return len(test.code)


class LruCache(Generic[T]):
    """A cache of the most recently used values, bounded by number and bytes.

    Two caches with the same sequence of calls hold the same values, so that one side knows what the other holds.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._things: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, name: str) -> T | None:
        """Return the value of a name and mark it as used; None if it is not there."""
        found = self._things.get(name)
        if found is None:
            return None
        self._things.move_to_end(name)
        return found[0]

    def put(self, name: str, thing: T, size: int) -> None:
        """Store a value, and drop the least recently used ones, but never this one.

        Args:
            name: its key.
            thing: the value.
            size: its size in bytes.
        """
        self.drop(name)
        self._things[name] = thing, size
        self._bytes += size
        while len(self._things) > 1 and (len(self._things) > self._most or self._bytes > self._most_bytes):
            self.drop(next(iter(self._things)))

    def latest(self, count: int) -> tuple[str, ...]:
        """Return the names that were used last, at most `count` of them."""
        return tuple(itertools.islice(reversed(self._things), count))

    def drop(self, name: str) -> None:
        """Remove the value of a name, if it is there."""
        _, size = self._things.pop(name, (None, 0))
        self._bytes -= size

    def clear(self) -> None:
        """Remove all values."""
        self._things.clear()
        self._bytes = 0

    def __contains__(self, name: str) -> bool:
        return name in self._things

    def __len__(self) -> int:
        return len(self._things)
