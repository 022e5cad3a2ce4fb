"""The programs that the tests of one submission need, each prepared when its first test comes.

A stdin test runs the source alone. In Python, that serves all tests. In the languages that have drivers, calls need the
source with a driver, which is compiled once for all calls, and a test program that is no list of calls needs one of its
own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from sandbox_service import languages
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.languages import drivers
from sandbox_service.languages.assertions import combined, foreign, programs
from sandbox_service.languages.assertions.conditions import Check
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.base import Source
from sandbox_service.languages.drivers import Call, Driven, scan
from sandbox_service.schema import AssertTest, CallTest, TestCase


class Works:
    """The works of one submission."""

    def __init__(self, prepare: Callable[[Source], Work], source: Source, tests: list[TestCase]) -> None:
        """Prepare nothing yet.

        Args:
            prepare: makes a program.
            source: the submission.
            tests: its tests.
        """
        self._prepare, self._source, self._tests = prepare, source, tests
        self._checks: dict[str, list[Check] | None] = {}
        self._beside: dict[tuple[str, str], Work] = {}
        self._works: list[Work] = []
        self._most_seconds: float | None = None
        self.language = languages.find(source.language).family
        self.has_driver = self.language in drivers.LANGUAGES

    def limit(self, seconds: float) -> None:
        """Give every run from now on no more CPU time than this; the wall-clock limit stays.

        Args:
            seconds: of CPU time.
        """
        self._most_seconds = seconds
        for work in self._works:
            self._hold(work)

    def _hold(self, work: Work) -> None:
        limits, most = work.limits, self._most_seconds
        if most is not None and most < limits.cpu_seconds:
            work.limits = limits.model_copy(update={"cpu_seconds": most, "wall_seconds": limits.wall})

    def _prepared(self, source: Source) -> Work:
        work = self._prepare(source)
        self._hold(work)
        self._works.append(work)
        return work

    @cached_property
    def alone(self) -> Work:
        """The source as it is."""
        return self._prepared(self._source)

    @cached_property
    def called(self) -> Work:
        """The source with the driver that calls it."""
        if not self.has_driver:
            return self.alone
        files = {**self._source.files, **self.driven.files}
        standard = drivers.COMPILED_AS.get(self._source.language, self._source.language)
        return self._prepared(replace(self._source, language=standard, text=self.driven.text, files=files))

    @cached_property
    def driven(self) -> Driven:
        """The source with its driver."""
        calls = [call_of(test) for test in self._tests if isinstance(test, CallTest)]
        asserted = [test for test in self._tests if isinstance(test, AssertTest) and self.checks(test)]
        for test in asserted:
            calls += [check.call for check in self.checks(test) or ()]
        text = self._source.text + self._closing(asserted)
        if asserted and self.language == "go":
            text = combined.without_imports_of_tests(text)
        preludes = {test.prelude for test in asserted if test.prelude and self.language != "go"}
        return drivers.driven(self.language, "\n".join([*sorted(preludes), text]), calls)

    def checks(self, test: AssertTest) -> list[Check] | None:
        """Return the calls that a test program is made of, or None if it is not made of calls alone."""
        if test.code not in self._checks:
            try:
                self._checks[test.code] = programs.checks(test.code, self.language) if self.has_driver else None
            except (NotPlainError, RecursionError):
                self._checks[test.code] = None
        return self._checks[test.code]

    def beside(self, test: AssertTest) -> Work:
        """Return the source and the test program in one. Raises BadTestError if they cannot be joined."""
        key = (test.prelude or "", test.code)
        if key not in self._beside:
            try:
                text = combined.combined(self.language, test.prelude or "", self._source.text, test.code)
            except NotPlainError as error:
                raise BadTestError(str(error)) from None
            self._beside[key] = self._prepared(self._tested(text))
        return self._beside[key]

    def missing_import(self, test: TestCase, said: str) -> str | None:
        """Return a library that a test program imports and that is said to be missing, or None.

        Args:
            test: the test.
            said: what the compiler or interpreter said, or the submission in its name.
        """
        if not isinstance(test, AssertTest):
            return None
        return foreign.missing(self.language, f"{test.prelude or ''}\n{test.code}", said)

    def syntax_error(self, test: AssertTest, said: str) -> str | None:
        """Return the syntax error of a test program, or None.

        One with a prelude has none: a submission may continue what the prelude begins, such as a function.

        Args:
            test: the test.
            said: what the compiler said of the test program alone.
        """
        has_prelude = bool(test.prelude and not test.prelude.isspace())
        return None if has_prelude else foreign.syntax_error(self.language, test.code, said)

    def without_submission(self, test: AssertTest) -> Work:
        """Return the test program alone. Raises NotPlainError if it cannot be run so."""
        text = combined.combined(self.language, test.prelude or "", "", test.code)
        return self._prepared(self._tested(text))

    def _tested(self, text: str) -> Source:
        files = {**self._source.files, **combined.FILES.get(self.language, {})}
        return replace(self._source, text=text, files=files)

    def work_of(self, test: TestCase) -> Work:
        """Return the work that runs a test."""
        if isinstance(test, CallTest):
            return self.called
        if isinstance(test, AssertTest) and self.language not in ("python", "text"):
            return self.called if self.checks(test) else self.beside(test)
        return self.alone

    def _closing(self, asserted: list[AssertTest]) -> str:
        """Return the brackets that the source leaves open for its test program to close, as MultiPL-E's do."""
        if not asserted:
            return ""
        code = scan.masked(self._source.text, self.language)
        test = scan.masked(asserted[0].code, self.language)
        return "\n" + "}" * combined.closed(code.count("{") - code.count("}"), test)


def call_of(test: CallTest) -> Call:
    """Return the call of a test. Raises BadTestError for arguments by name, which other languages do not have."""
    if test.kwargs:
        raise BadTestError("arguments by name (kwargs) are for Python only")
    return Call(test.function, test.args, test.calls)
