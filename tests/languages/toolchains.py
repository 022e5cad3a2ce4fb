"""What the tests of languages share: the programs with known verdicts, and a skip where a compiler is missing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import languages
from sandbox_service.languages import toolchains
from sandbox_service.schema import Limits, StdinTest, Submission

HERE = Path(__file__).resolve().parent
PROBLEM = json.loads((HERE.parent / "verdicts/stdin/problem.json").read_text())
SHORT = Limits.model_validate(PROBLEM["limits"])  # 1 s, for programs that use up their time
LIMITS = SHORT.model_copy(update={"cpu_seconds": 5.0, "wall_seconds": 15.0})  # Java takes 0.9 s to overflow its stack
ENDLESS = {("c", "MLE")}  # programs that try again and again when there is no more memory
HEADING = re.compile(r"^=== (.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A program and the verdict that it must get on the problem of tests/verdicts/stdin: the sum of squares."""

    language: str
    verdict: str
    name: str
    code: str

    @property
    def id(self) -> str:
        """Readable and unique."""
        return f"{self.language}-{self.verdict}-{self.name}"


def cases() -> list[Case]:
    """All programs, from files with a heading `=== [language] VERDICT name` above each."""
    found = []
    for path in sorted((HERE / "programs").glob("*.txt")):
        _, *parts = HEADING.split(path.read_text())
        for heading, code in zip(parts[::2], parts[1::2], strict=True):
            words = heading.split()
            language = path.stem if len(words) == 2 else words[0]
            found.append(Case(language, words[-2], words[-1], code))
    return found


def need(name: str) -> None:
    """Skip the test, and say so, where the language is missing."""
    language = languages.find(name)
    assert language.toolchain is not None
    if not toolchains.is_present(language):
        pytest.skip(f"{name} is missing: apt-get install {language.toolchain.package}")


def submission(language: str, code: str, **fields: Any) -> Submission:
    """A submission of a program for the sum of squares, unless the fields say otherwise."""
    given: dict[str, Any] = {
        "id": "x",
        "language": language,
        "code": code,
        "tests": [StdinTest.model_validate(test) for test in PROBLEM["tests"]],
        "limits": LIMITS,
    }
    return Submission.model_validate(given | fields)
