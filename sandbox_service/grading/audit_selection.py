"""Selects the accepted submissions on which audit tests run: all that may know their tests, and a share of the others.

The share follows from a checksum of the source, so that a submission that is paused, repeated or answered from the
cache is treated alike.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from sandbox_service.grading.suites import LruCache
from sandbox_service.judging.known_tests import Known, known_of, may_know
from sandbox_service.schema import AssertTest, TestCase

CHECKSUMS = 1 << 32  # a program could choose its checksum as well as a hash: neither has a secret in it
KEPT_TESTS = 4096
KEPT_CHARACTERS = 8 << 20


class AuditSelection:
    """Selects accepted submissions. Keeps the marks that it read from the tests of a slot's last suites."""

    def __init__(self, share: float) -> None:
        """Select this share of the programs that do not seem to know their tests, from 0 to 1."""
        self._share = share
        self._known: LruCache[tuple[TestCase, Known]] = LruCache(KEPT_TESTS, KEPT_CHARACTERS)
        self._latest: tuple[Sequence[TestCase], list[Known]] = (), []  # of the latest suite, which submissions share

    def selects(self, source: str, tests: Sequence[TestCase]) -> bool:
        """Return whether the audit tests of a submission run.

        Args:
            source: Its program.
            tests: All its tests; the scored ones passed.
        """
        if self._share >= 1:
            return True
        if zlib.crc32(source.encode(errors="surrogatepass")) < self._share * CHECKSUMS:
            return True
        if tests is not self._latest[0]:
            self._latest = tests, [self._known_of(test) for test in tests if test.role == "scored"]
        return may_know(source, self._latest[1])

    def _known_of(self, test: TestCase) -> Known:
        # by text, which outlives a suite; by identity, which holds as long as the test is kept, where texts are long
        name = test.code if isinstance(test, AssertTest) else str(id(test))
        kept = self._known.get(name)
        if kept is None:
            kept = test, known_of(test)
            self._known.put(name, kept, kept[1].size + len(name))
        return kept[1]
