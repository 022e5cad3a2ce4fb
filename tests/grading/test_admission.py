"""What goes together in a submission, and what is said where a library is not installed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sandbox_service.errors import BadRequestError, SandboxError, UnsupportedCheckerError
from sandbox_service.grading import admission
from sandbox_service.grading.suites import Suite
from sandbox_service.languages import math_packages
from sandbox_service.schema import Submission

STDIN = {"type": "stdin", "output": "1"}
MODULES = "sandbox_service.bootstrap, sandbox_service.slots.main, sandbox_service.cli, sandbox_service.fleet.worker"


def checked(**fields: Any) -> None:
    """Check a submission."""
    submission = Submission.model_validate({"code": "1", "tests": [STDIN], "language": "text"} | fields)
    admission.check(submission, Suite("", b"", list(submission.tests or ())))


def test_a_text_is_compared_and_nothing_else() -> None:
    checked()
    for test in (
        {"type": "call", "function": "f", "output": 1},
        {"type": "assert", "code": ""},
        STDIN | {"input": "1"},
    ):
        with pytest.raises(BadRequestError, match=r"tests\.1: a text is no program"):
            checked(tests=[STDIN, test])
        checked(tests=[STDIN, test], language="python")


def test_calls_and_test_programs_are_for_languages_that_have_drivers() -> None:
    call, asserted = {"type": "call", "function": "f", "output": 1}, {"type": "assert", "code": "x"}
    for language in ("cpp", "java", "typescript"):
        checked(language=language, tests=[call, asserted, STDIN])
    checked(language="csharp", tests=[call])
    with pytest.raises(BadRequestError, match=r"tests\.0: tests of type assert are for Python, cpp, .* for csharp"):
        checked(language="csharp", tests=[asserted])
    with pytest.raises(BadRequestError, match=r"tests\.0: tests of type call are for Python, .*; use stdin for lua"):
        checked(language="lua", tests=[call])
    with pytest.raises(BadRequestError, match=r"tests\.0\.kwargs: arguments by name are for Python only"):
        checked(language="cpp", tests=[call | {"kwargs": {"x": 1}}])
    checked(language="python", tests=[call | {"kwargs": {"x": 1}}])


def test_who_lacks_the_library_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math_packages, "PACKAGES", ("json", "no_such_library"))
    with pytest.raises(UnsupportedCheckerError, match=r"no_such_library.*pip install 'proctor\[math\]'"):
        checked(checker={"type": "math"})
    with pytest.raises(SandboxError, match=r"no_such_library.*pip install 'proctor\[math\]'"):
        math_packages.opened()
    checked()


def test_the_service_never_imports_it() -> None:
    look = f"import sys, {MODULES}; print([name for name in {math_packages.PACKAGES} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "[]\n"
