"""Problems from published rows are graded as labelled: references pass, and wrong programs fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import languages
from sandbox_service.formats.problem import Problem
from sandbox_service.languages import toolchains
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed, detect
from tests.conftest import Service
from tests.validation.sources.published import DOUBLE, PICK, ROWS

GRADED = ("tests", "checker", "limits")
# Rows whose data set has no solutions; for those of one kind this is right.
OTHERS = {
    "archer livecodebench": PICK, "livecodebench call": PICK, "deepcoder lcbv5": PICK,
    "multipl-e javascript": "function add(a, b) { return a + b; }",
}  # fmt: skip
LANGUAGES = ("python", "text", "javascript")
"""The languages of answers that are graded here: starting their interpreters costs little."""
NEEDED = {"codecontests+": "cpp"} | {name: "javascript" for name in ROWS if name.endswith(" javascript")}
"""What the machine must have for a row, of the program or of its checker."""

# What readers make of the real problems; the rest is asked of a checker of its own, or of people.
COUNTS = {
    "codecontests_100": (100, 0),
    "humaneval": (164, 0),
    "humanevalpack_cpp_0_59": (60, 0),
    "humanevalpack_java_0_59": (60, 0),
    "humanevalpack_python_0_59": (60, 0),
    "kattis_problemtools": (6, 2),
    "leetcode_train_120": (120, 0),
    "mbpp": (974, 0),
    "mbppplus_60": (60, 0),
    "quixbugs": (31, 0),
}


def submissions(name: str, problem: Problem) -> Iterator[dict[str, Any]]:
    needed = NEEDED.get(name, "python")
    if problem.language not in LANGUAGES or not toolchains.is_present(languages.find(needed)):
        return
    told = problem.model_dump(mode="json", include=set(GRADED), exclude_none=True)
    known = [(each.code, each.language) for each in problem.references if each.language in LANGUAGES]
    other = problem.language if name in OTHERS else "python"
    for number, (code, language) in enumerate(known or [(OTHERS.get(name, DOUBLE), other)]):
        yield told | {"id": f"{name}/{number}", "code": code, "language": language}


def test_references_of_every_format_are_accepted(service: Service) -> None:
    bodies = [body for name, (_, row) in ROWS.items() for body in submissions(name, detect(row)(row))]
    grades = service.client.batch(bodies)
    missed = {name: (grade["verdict"], grade["message"]) for name, grade in grades.items() if grade["verdict"] != "AC"}
    assert missed == {}
    graded = {name for name, (_, row) in ROWS.items() if [*submissions(name, detect(row)(row))]}
    assert set(ROWS) - graded - set(NEEDED) == {"multipl-e", "humaneval-x", "humanevalpack"}, "those in C++"


def test_an_empty_program_passes_nowhere(service: Service) -> None:
    bodies = [
        body | {"id": f"empty/{body['id']}", "code": "pass" if body["language"] == "python" else "I do not know"}
        for name, (_, row) in ROWS.items()
        for body in submissions(name, detect(row)(row))
    ]
    grades = service.client.batch(bodies)
    assert {name: grade["verdict"] for name, grade in grades.items() if grade["verdict"] in ("AC", "IE")} == {}


@pytest.mark.parametrize("name", COUNTS)
def test_real_problems_are_read(data: Path, name: str) -> None:
    found = list(sources.read(str(data / f"{name}.jsonl")))
    malformed = [each for each in found if isinstance(each, Malformed)]
    assert (len(found) - len(malformed), len(malformed)) == COUNTS[name]
