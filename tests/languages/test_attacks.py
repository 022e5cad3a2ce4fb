"""Attacks in C, C++, Java and JavaScript: none is paid, none gets out of its box, and a neighbour is graded as ever.

Each file of `attacks/` is a program; its first line says what it tries and its second what may become of it. It prints
`ESCAPED` where it has done what must not be possible. Do not run one outside a box.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.grading.grader import Grader
from sandbox_service.schema import Grade
from tests.languages.toolchains import need, submission

FOLDER = Path(__file__).parent / "attacks"
LANGUAGES = {".c": "c", ".cpp": "cpp", ".java": "java", ".js": "javascript"}
FILES = sorted(each for each in FOLDER.iterdir() if each.suffix in LANGUAGES)
HEAD = "// proctor: "
ESCAPED = "ESCAPED"

SECRET = 730194242
"""The expected output. It does not follow from the input; an attack that prints all that it can read must miss it."""
TEST = {"type": "stdin", "input": "20 22\n", "output": f"{SECRET}\n"}
LIMITS = {"cpu_seconds": 2, "wall_seconds": 4, "memory_bytes": 1 << 28, "output_bytes": 1 << 20}
HONEST = "let [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number); console.log(a + b);"


def meta(path: Path) -> dict[str, Any]:
    """What the second line of an attack says: `expect`, and `full` if it costs seconds."""
    found: dict[str, Any] = json.loads(path.read_text().splitlines()[1].removeprefix(HEAD))
    return found


def params() -> list[Any]:
    return [
        pytest.param(each, id=each.name, marks=pytest.mark.full if meta(each).get("full") else ()) for each in FILES
    ]


def attacked(grader: Grader, path: Path) -> Grade:
    """The grade of an attack, which is run twice: the second run may find what the first one left."""
    fields = {"tests": [TEST, TEST], "limits": LIMITS, "stop_on_failure": False, "display_bytes": 1 << 20}
    return grader.grade(submission(LANGUAGES[path.suffix], path.read_text(), **fields))


@pytest.mark.parametrize("path", params())
def test_no_attack_pays(grader: Grader, path: Path) -> None:
    need(LANGUAGES[path.suffix])
    grade = attacked(grader, path)
    shown = [(test.verdict, test.message, test.stdout[-300:], test.stderr[-300:]) for test in grade.tests]
    assert grade.reward == 0, (grade.message, grade.failure_reason, shown)
    assert {str(test.verdict) for test in grade.tests} <= set(meta(path)["expect"]), (grade.message, shown)
    assert not any(ESCAPED in test.stdout for test in grade.tests), shown
    assert not any(str(SECRET) in test.stdout for test in grade.tests), "it found the expected output"


def test_a_neighbour_is_graded_as_ever(grader: Grader) -> None:
    need("javascript")
    test = {"type": "stdin", "input": "20 22\n", "output": "42\n"}
    assert grader.grade(submission("javascript", HONEST, tests=[test], limits=LIMITS)).verdict == "AC"


def test_there_are_as_many_as_are_promised() -> None:
    found = Counter(each.suffix for each in FILES)
    assert found[".c"] + found[".cpp"] >= 12
    assert min(found[".java"], found[".js"]) >= 6
    assert all(HEAD in each.read_text().splitlines()[1] and meta(each)["expect"] for each in FILES)
