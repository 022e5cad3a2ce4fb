"""What goes together in a submission, and what is said where a library is not installed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sandbox_service import gradable
from sandbox_service.errors import BadRequest, SandboxFault, UnsupportedChecker
from sandbox_service.jails import libraries
from sandbox_service.schema import Submission

STDIN = {"type": "stdin", "output": "1"}
MODULES = "sandbox_service.bootstrap, sandbox_service.slot, sandbox_service.cli, sandbox_service.worker"


def checked(**fields: Any) -> None:
    """Check a submission."""
    submission = Submission.model_validate({"code": "1", "tests": [STDIN], "language": "text"} | fields)
    gradable.check(submission, submission.tests or ())


def test_a_text_is_compared_and_nothing_else() -> None:
    checked()
    for test in (
        {"type": "call", "function": "f", "output": 1},
        {"type": "assert", "code": ""},
        STDIN | {"input": "1"},
    ):
        with pytest.raises(BadRequest, match=r"tests\.1: a text is no program"):
            checked(tests=[STDIN, test])
        checked(tests=[STDIN, test], language="python")


def test_who_lacks_the_library_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "PACKAGES", ("json", "no_such_library"))
    with pytest.raises(UnsupportedChecker, match=r"no_such_library.*pip install 'proctor\[math\]'"):
        checked(checker={"type": "math"})
    with pytest.raises(SandboxFault, match=r"no_such_library.*pip install 'proctor\[math\]'"):
        libraries.opened()
    checked()


def test_the_service_never_imports_it() -> None:
    look = f"import sys, {MODULES}; print([name for name in {libraries.PACKAGES} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "[]\n"
