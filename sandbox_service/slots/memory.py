"""The memory that the boxes of a submission may use at a time, which the slot pool counts while it runs.

A submission is compiled, runs, and is judged, one after the other, so the largest of these counts. Beside the program a
second box may run: the tester of an assert test, or an interactor.

A program counts with its limit, since its author is not trusted. Testers, judges and compilers count with their limit
only if the request sets one: their default is far above what they use, and no slot should be idle for it. See
docs/decisions/0164.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic_core import from_json

from sandbox_service import languages
from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.grading.suites import LARGE_BYTES, LruCache, Suite
from sandbox_service.schema import Limits

DEFAULT_BYTES = Limits().memory_bytes
JUDGE_BYTES = 128 << 20  # of a tester or judge without a limit of its own; most use 20 MB
COMPILER_BYTES = 512 << 20  # of a compiler without a limit of its own; the standard library's headers take 200 MB
MOST_SUITES = 1024

_ASSERT_TEST = re.compile(rb'"type"\s*:\s*"assert"')  # no text in JSON has a quote without a backslash
_ESCAPED_LETTER = re.compile(rb"\\u00[67]")  # with which a client may write a key or a type


class SuiteNeeds(NamedTuple):
    """The bytes that a suite adds to its submissions: of boxes beside the program, and of a checker after it."""

    beside: int = 0
    after: int = 0


class MemoryNeeds:
    """Tells how much memory submissions may use. Remembers what suites add."""

    def __init__(self) -> None:
        self._suites: LruCache[SuiteNeeds] = LruCache(MOST_SUITES, MOST_SUITES)
        self._last_suite, self._last_default = "", 0  # of the last call: submissions of one suite come together

    def of(self, body: bytes, suite: Suite) -> int:
        """Return the bytes of a submission.

        Args:
            body: The submission's JSON. One that cannot be read counts as one without limits: a slot will refuse it.
            suite: Its tests.
        """
        if b'"memory_bytes"' not in body and b'"language"' not in body and b'"interactor"' not in body:
            return self.of_default(suite)
        try:
            return _of_parsed(from_json(body), self._of_suite(suite))
        except (ValueError, TypeError, AttributeError, UnsupportedLanguageError):
            return DEFAULT_BYTES

    def of_default(self, suite: Suite) -> int:
        """Return the bytes of a submission whose JSON says nothing about memory, as that of most.

        Args:
            suite: Its tests.
        """
        if suite.id != self._last_suite:
            of_suite = self._of_suite(suite)
            self._last_suite, self._last_default = suite.id, max(DEFAULT_BYTES + of_suite.beside, of_suite.after)
        return self._last_default

    def _of_suite(self, suite: Suite) -> SuiteNeeds:
        found = self._suites.get(suite.id)
        if found is None:
            found = suite_needs(suite)
            self._suites.put(suite.id, found, 1)
        return found


def suite_needs(suite: Suite) -> SuiteNeeds:
    """Return what a suite adds to its submissions."""
    is_escaped = _ESCAPED_LETTER.search(suite.body) is not None
    tester = JUDGE_BYTES if is_escaped or _ASSERT_TEST.search(suite.body) else 0
    if not is_escaped and b'"interactor"' not in suite.body and b'"checker"' not in suite.body:
        return SuiteNeeds(tester)
    try:
        found = from_json(suite.body) if len(suite.body) <= LARGE_BYTES else {}
        return SuiteNeeds(max(tester, _of_judge(found.get("interactor"))), _of_judge(found.get("checker")))
    except (ValueError, TypeError, AttributeError, UnsupportedLanguageError):
        return SuiteNeeds(tester)


def _of_parsed(found: dict[str, Any], of_suite: SuiteNeeds) -> int:
    toolchain = languages.find(found.get("language", "python")).toolchain
    program = int(found.get("limits", {}).get("memory_bytes", DEFAULT_BYTES)) + (
        toolchain.memory_bytes if toolchain else 0
    )
    compiler = int(found.get("compile_limits", {}).get("memory_bytes") or COMPILER_BYTES) if toolchain else 0
    beside = max(of_suite.beside, _of_judge(found.get("interactor")))
    after = max(of_suite.after, _of_judge(found.get("checker")))
    return max(program + beside, compiler, after)


def _of_judge(judge: Any) -> int:
    """Return the bytes of a judge program, as in JSON; 0 for a checker that is no program."""
    if not isinstance(judge, dict) or judge.get("type") != "program":
        return 0
    toolchain = languages.find(judge.get("language", "python")).toolchain
    limit = int((judge.get("limits") or {}).get("memory_bytes") or DEFAULT_BYTES)
    return (JUDGE_BYTES if limit == DEFAULT_BYTES else limit) + (toolchain.memory_bytes if toolchain else 0)
