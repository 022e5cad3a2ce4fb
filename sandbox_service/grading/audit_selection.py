"""Selects the accepted submissions on which audit tests run: all that may know their tests, and a share of the others.

The share follows from a hash of the source, so that a submission that is paused, repeated or answered from the cache is
treated alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sandbox_service.judging.known_tests import may_know
from sandbox_service.schema import TestCase

BYTES = 8  # of the hash


def is_selected(source: str, tests: Sequence[TestCase], share: float) -> bool:
    """Return whether the audit tests of a submission run.

    Args:
        source: Its program.
        tests: All its tests; the scored ones passed.
        share: Of the programs that do not seem to know their tests, from 0 to 1.
    """
    if share >= 1:
        return True
    digest = hashlib.blake2b(source.encode(errors="surrogatepass"), digest_size=BYTES).digest()
    if int.from_bytes(digest, "big") < share * 256**BYTES:
        return True
    return may_know(source, [test for test in tests if test.role == "scored"])
