"""Prepares submissions for sending: assigns ids, replaces shared tests with suites, and forms batches.

Tests that at least two submissions share, or that are long, become a suite. The service validates; this module does
not.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.client.errors import RefusedError
from sandbox_service.client.json_encoding import encoded, fields_of
from sandbox_service.client.suites import Suite
from sandbox_service.schema import Submission

INLINE_BYTES = 4096  # largest tests of a single submission that are sent inline
CHUNK = 512  # most submissions in a batch
CHUNK_BYTES = 8 << 20  # most bytes in a batch, except for a single submission

Given = Submission | Mapping[str, Any]


@dataclass(slots=True)
class BatchItem:
    """A submission that is being sent."""

    place: int  # index in the call's submissions
    id: str
    fields: dict[str, Any]
    suite: str = ""  # id of the suite that the service must have; empty: tests are inline
    body: bytes = b""  # JSON, once it is in a batch
    tries: int = 0  # that the service lost or failed to grade

    @property
    def name(self) -> str:
        """The submission's name in messages."""
        return f"submission {self.place} ({self.id!r})"


@dataclass
class PackedBatch:
    """The submissions of a call. `sources` maps the ids of suites to their tests or to the Suite, unless only the id is
    known.
    """

    defaults: dict[str, Any]
    items: list[BatchItem]
    sources: dict[str, Sequence[Any] | Suite] = field(default_factory=dict)


def pack(submissions: Sequence[Given], defaults: Mapping[str, Any]) -> PackedBatch:
    """Return the submissions, ready to be formed into batches.

    Args:
        submissions: Submissions or their fields.
        defaults: Fields of every submission that does not set them.

    Raises:
        RefusedError: Two submissions have the same id.
    """
    items = [_item(place, fields_of(each)) for place, each in enumerate(submissions)]
    _check_ids(items)
    packed = PackedBatch(fields_of(defaults), items)
    shared = _SharedTests(packed.sources)
    for fields in (packed.defaults, *(item.fields for item in items)):
        shared.count(fields)
    inheriting = [item for item in items if not item.fields.keys() & {"tests", "suite"}]
    shared.uses[shared.name(packed.defaults)] += len(inheriting) - 1
    for fields in (packed.defaults, *(item.fields for item in items)):
        shared.replace(fields)
    for item in items:
        fields = packed.defaults if not item.fields.keys() & {"tests", "suite"} else item.fields
        item.suite = "" if "tests" in fields else str(fields.get("suite") or "")
    return packed


def single(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Suite | None]:
    """Return the fields of one submission with an id, and a suite if its tests are long."""
    found = _item(0, fields_of(fields)).fields
    if isinstance(suite := found.get("suite"), Suite):
        return found | {"suite": suite.id}, suite
    if not _has_tests_only(found):
        return found, None
    suite = Suite.of(found["tests"])
    if len(suite.body) <= INLINE_BYTES:
        return found, None
    del found["tests"]
    return found | {"suite": suite.id}, suite


def chunks(items: Sequence[BatchItem]) -> Iterator[dict[str, BatchItem]]:
    """Yield batches of bounded size, as submissions by id.

    Args:
        items: The submissions.

    Raises:
        TypeError: A value cannot be sent as JSON.
    """
    chunk: dict[str, BatchItem] = {}
    size = 0
    for item in items:
        item.body = _body(item)
        if chunk and (len(chunk) == CHUNK or size + len(item.body) > CHUNK_BYTES):
            yield chunk
            chunk, size = {}, 0
        chunk[item.id] = item
        size += len(item.body)
    if chunk:
        yield chunk


class _SharedTests:
    """Counts how many submissions use the same tests, and names the suites."""

    def __init__(self, sources: dict[str, Sequence[Any] | Suite]) -> None:
        self._sources = sources
        self._found: dict[int, tuple[str, int]] = {}  # suite id and size, by the identity of the tests
        self.uses: Counter[str] = Counter()

    def count(self, fields: Mapping[str, Any]) -> None:
        """Count the tests in a submission's fields, if it has any."""
        if _has_tests_only(fields):
            self.uses[self.name(fields)] += 1

    def replace(self, fields: dict[str, Any]) -> None:
        """Replace tests in a submission's fields with the id of a suite where they are shared or long."""
        if isinstance(suite := fields.get("suite"), Suite):
            self._sources[suite.id] = suite
            fields["suite"] = suite.id
        if not _has_tests_only(fields):
            return
        name, size = self._find(fields["tests"])
        if self.uses[name] > 1 or size > INLINE_BYTES:
            self._sources[name] = fields.pop("tests")
            fields["suite"] = name

    def name(self, fields: Mapping[str, Any]) -> str:
        """Return the id of the suite of the tests in these fields; empty if they have none."""
        return self._find(fields["tests"])[0] if _has_tests_only(fields) else ""

    def _find(self, tests: Sequence[Any]) -> tuple[str, int]:
        if id(tests) not in self._found:
            suite = Suite.of(tests)
            self._found[id(tests)] = (suite.id, len(suite.body))
        return self._found[id(tests)]


def _item(place: int, fields: dict[str, Any]) -> BatchItem:
    fields["id"] = fields.get("id") or secrets.token_hex(12)
    return BatchItem(place, str(fields["id"]), fields)


def _check_ids(items: Sequence[BatchItem]) -> None:
    seen: dict[str, int] = {}
    for item in items:
        if item.id in seen:
            raise RefusedError(f"submissions {seen[item.id]} and {item.place} have the same id {item.id!r}")
        seen[item.id] = item.place


def _has_tests_only(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("tests")) and fields.get("suite") is None


def _body(item: BatchItem) -> bytes:
    try:
        return encoded(item.fields)
    except TypeError as error:
        raise TypeError(f"{item.name}: {error}") from None
