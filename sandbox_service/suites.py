"""Test suites, known by the hash of their bytes: sent once, stored once, parsed once, and the same for everybody.

Tests that come inside a submission become a suite too, so that behind the API there is only one way to have tests.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from sandbox_service.errors import BadRequest
from sandbox_service.schema import AssertTest, CallTest, Checker, Limits, Sample, StdinTest, SuiteBody, TestCase

# a list has its own way with NaN and Infinity, which would be null: another expected answer
_TESTS = TypeAdapter(list[TestCase], config=ConfigDict(ser_json_inf_nan="constants"))
T = TypeVar("T")
ID_LENGTH = len("sha256:") + 64


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests, and the bytes they were read from. `checker` and `limits`: for submissions that name none."""

    id: str
    body: bytes
    tests: list[TestCase]
    checker: Checker | None = None
    limits: Limits | None = None


def id_of(body: bytes) -> str:
    """The name of a suite: the SHA-256 of its bytes."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def read(body: bytes) -> Suite:
    """A suite from its bytes. Raises pydantic's ValidationError."""
    found = SuiteBody.model_validate_json(body)
    return Suite(id_of(body), body, found.tests, found.checker, found.limits)


def of_tests(tests: list[TestCase]) -> Suite:
    """A suite from tests that came inside a submission. Raises BadRequest for half a character, which JSON may name."""
    try:
        body = b'{"tests":' + _TESTS.dump_json(tests) + b"}"
    except PydanticSerializationError as error:
        raise BadRequest(f"tests: {error}") from None
    return Suite(id_of(body), body, tests)


def chosen(tests: Sequence[TestCase], sample: Sample | None) -> list[tuple[int, TestCase]]:
    """The tests that a sample names, in their order and with their place in the suite; all of them without a sample."""
    numbered = list(enumerate(tests))
    if sample is None or sample.count >= len(numbered):
        return numbered
    if sample.rule == "first":
        return numbered[: sample.count]
    if sample.rule == "longest":
        ranked = sorted(numbered, key=lambda each: -_length(each[1]))
    else:
        ranked = sorted(numbered, key=lambda each: _chance(sample.seed, each[0]))
    return sorted(ranked[: sample.count], key=lambda each: each[0])


def _chance(seed: int, place: int) -> bytes:
    """A test's rank by a hash, so that the choice depends on nothing else: no interpreter, version or order."""
    return hashlib.blake2b(f"{seed}/{place}".encode()).digest()


def _length(test: TestCase) -> int:
    """Of a test's input, in characters."""
    match test:
        case StdinTest():
            return len(test.input)
        case CallTest():
            return len(test.model_dump_json(include={"args", "kwargs", "calls"}, exclude_defaults=True))
        case AssertTest():
            return len(test.code)


class Shelf(Generic[T]):
    """The most recently used things, by name, as many as fit.

    Two sides that put and use the same things in the same order hold the same things, so one need not ask the other.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._things: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, name: str) -> T | None:
        """Use a thing; None if it is not there."""
        found = self._things.get(name)
        if found is None:
            return None
        self._things.move_to_end(name)
        return found[0]

    def put(self, name: str, thing: T, size: int) -> None:
        """Put a thing; the least recently used ones go, but never this one."""
        self.drop(name)
        self._things[name] = thing, size
        self._bytes += size
        while len(self._things) > 1 and (len(self._things) > self._most or self._bytes > self._most_bytes):
            self.drop(next(iter(self._things)))

    def drop(self, name: str) -> None:
        """Forget a thing, if it is there."""
        _, size = self._things.pop(name, (None, 0))
        self._bytes -= size

    def clear(self) -> None:
        """Forget everything."""
        self._things.clear()
        self._bytes = 0

    def __contains__(self, name: str) -> bool:
        return name in self._things

    def __len__(self) -> int:
        return len(self._things)
