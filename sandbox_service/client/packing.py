"""From what a caller gives to what is sent: an id for each submission, and tests that travel once.

Tests that at least two submissions have, or that are long, become a suite; whoever has a suite names it. Nothing is
checked here that the service checks.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.client.errors import Refused
from sandbox_service.client.plain import encoded, fields_of
from sandbox_service.client.suites import Suite
from sandbox_service.schema import Submission

INLINE_BYTES = 4096  # of tests that only one submission has
CHUNK = 512  # submissions in a batch …
CHUNK_BYTES = 8 << 20  # … and their bytes, but for a single one

Given = Submission | Mapping[str, Any]


@dataclass(slots=True)
class Item:
    """A submission on its way."""

    place: int  # in what was given
    id: str
    fields: dict[str, Any]
    suite: str = ""  # that has to be there; empty: its tests come along
    body: bytes = b""  # once it is in a chunk
    tries: int = 0  # at what the service lost or failed at

    @property
    def name(self) -> str:
        """For messages."""
        return f"submission {self.place} ({self.id!r})"


@dataclass
class Packed:
    """All of a call. `sources` has the tests of each suite, or the suite itself, but for those only named."""

    defaults: dict[str, Any]
    items: list[Item]
    sources: dict[str, Sequence[Any] | Suite] = field(default_factory=dict)


def pack(submissions: Sequence[Given], defaults: Mapping[str, Any]) -> Packed:
    """Raises Refused where two have the same id."""
    items = [_item(place, fields_of(each)) for place, each in enumerate(submissions)]
    _check_ids(items)
    packed = Packed(fields_of(defaults), items)
    shared = _Shared(packed.sources)
    for fields in (packed.defaults, *(item.fields for item in items)):
        shared.see(fields)
    heirs = [item for item in items if not item.fields.keys() & {"tests", "suite"}]
    shared.uses[shared.name(packed.defaults)] += len(heirs) - 1
    for fields in (packed.defaults, *(item.fields for item in items)):
        shared.settle(fields)
    for item in items:
        fields = packed.defaults if not item.fields.keys() & {"tests", "suite"} else item.fields
        item.suite = "" if "tests" in fields else str(fields.get("suite") or "")
    return packed


def one(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Suite | None]:
    """A single submission: with an id, and with a suite in place of long tests."""
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


def chunks(items: Sequence[Item]) -> Iterator[dict[str, Item]]:
    """By id, as large as a batch should be. Raises TypeError for what cannot be sent."""
    chunk: dict[str, Item] = {}
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


class _Shared:
    """Which tests have which name, and how many submissions have them."""

    def __init__(self, sources: dict[str, Sequence[Any] | Suite]) -> None:
        self._sources = sources
        self._found: dict[int, tuple[str, int]] = {}  # name and bytes, by the tests' identity: one call long
        self.uses: Counter[str] = Counter()

    def see(self, fields: Mapping[str, Any]) -> None:
        """One more that has tests, perhaps."""
        if _has_tests_only(fields):
            self.uses[self.name(fields)] += 1

    def settle(self, fields: dict[str, Any]) -> None:
        """Name a suite where there is one, or should be one."""
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
        """Of its tests."""
        return self._find(fields["tests"])[0] if _has_tests_only(fields) else ""

    def _find(self, tests: Sequence[Any]) -> tuple[str, int]:
        if id(tests) not in self._found:
            suite = Suite.of(tests)
            self._found[id(tests)] = (suite.id, len(suite.body))
        return self._found[id(tests)]


def _item(place: int, fields: dict[str, Any]) -> Item:
    fields["id"] = fields.get("id") or secrets.token_hex(12)
    return Item(place, str(fields["id"]), fields)


def _check_ids(items: Sequence[Item]) -> None:
    seen: dict[str, int] = {}
    for item in items:
        if item.id in seen:
            raise Refused(f"submissions {seen[item.id]} and {item.place} have the same id {item.id!r}")
        seen[item.id] = item.place


def _has_tests_only(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("tests")) and fields.get("suite") is None


def _body(item: Item) -> bytes:
    try:
        return encoded(item.fields)
    except TypeError as error:
        raise TypeError(f"{item.name}: {error}") from None
