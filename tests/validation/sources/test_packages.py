"""Kattis packages are folders: statement, tests, programs in folders named by their verdict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, StdinTest
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed
from sandbox_service.validation.sources.kattis import checker
from sandbox_service.validation.sources.kattis_submissions import verdicts_of
from tests.validation.sources.reading import one, refused

pytest.importorskip("yaml")

SHEET = "name: Double\nlicense: cc by-sa\nsource: A contest\nkeywords: math easy\nlimits:\n  memory: 512\n"
FILES = {
    "problem.yaml": SHEET,
    "problem_statement/problem.en.tex": "Double a number.",
    "problem_statement/problem.sv.tex": "Dubbla ett tal.",
    "data/sample/1.in": "2\n",
    "data/sample/1.ans": "4\n",
    "data/secret/group/b.in": "5\n",
    "data/secret/group/b.ans": "10\n",
    "data/secret/a.in": "3\n",
    "data/secret/a.ans": "6\n",
    "submissions/accepted/right.py": "print(2 * int(input()))",
    "submissions/accepted/old.py": "#!/usr/bin/env python2\nprint 2 * input()",
    "submissions/accepted/right.cc": "int main() {}",
    "submissions/accepted/odd.bf": "+",
    "submissions/wrong_answer/four.py": "print(4)",
    "submissions/run_time_error/none.py": "1 / 0",
    "submissions/time_limit_exceeded/slow/main.py": "while True: pass",
    "submissions/mixed/several/a.py": "",
    "submissions/accepted/two/a.py": "import b",
    "submissions/accepted/two/b.py": "",
}


def package(folder: Path, **changes: str) -> Path:
    for name, text in (FILES | changes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_package_is_a_problem(tmp_path: Path) -> None:
    made = one(package(tmp_path / "double"))
    assert (made.id, made.source, made.licence) == ("kattis/double", "kattis", "cc by-sa")
    assert [test.input for test in made.tests or () if isinstance(test, StdinTest)] == ["2\n", "3\n", "5\n"]
    assert made.checker == Checker(ignore_case=True)
    assert made.limits is not None
    assert made.limits.memory_bytes == 512 << 20
    assert made.prompt is not None
    assert "Double a number." in made.prompt
    assert "Example input:\n2\n" in made.prompt
    assert made.meta == {"platform": "kattis", "title": "Double", "tags": ["math", "easy"], "contest": "A contest"}
    assert made.provenance is not None
    assert (made.provenance.row, made.provenance.reader) == ("double", "kattis")


def test_programs_have_the_verdict_of_their_folder(tmp_path: Path) -> None:
    made = one(package(tmp_path / "double"))
    assert {each.name: (each.language, each.verdicts) for each in made.solutions} == {
        "accepted/odd.bf": ("bf", ["AC"]),
        "accepted/old.py": ("python2", ["AC"]),
        "accepted/right.cc": ("cpp23", ["AC"]),
        "accepted/right.py": ("python", ["AC"]),
        "run_time_error/none.py": ("python", ["RTE", "MLE"]),
        "time_limit_exceeded/slow": ("python", ["TLE"]),
        "wrong_answer/four.py": ("python", ["WA"]),
    }


@pytest.mark.parametrize(
    ("folder", "code", "verdicts"),
    [
        ("accepted", "pass", ["AC"]),
        ("mixed", "pass", []),
        ("mixed", "# @EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT\npass", ["WA", "TLE"]),
        ("mixed", "// @EXPECTED_RESULTS@: run_time_error", ["RTE", "MLE"]),
        ("accepted", "/* @EXPECTED_RESULTS@: CORRECT */", ["AC"]),
        ("rejected", "# @EXPECTED_RESULTS@: NO-OUTPUT", ["WA"]),
        ("accepted", "# @EXPECTED_RESULTS@: CHECK-MANUALLY", []),
        ("memory_limit_exceeded", "", ["MLE", "RTE"]),
    ],
)
def test_a_program_may_name_its_verdicts_for_domjudge(folder: str, code: str, verdicts: list[str]) -> None:
    assert verdicts_of(folder, [code]) == verdicts


def test_a_folder_of_packages_is_a_data_set(tmp_path: Path) -> None:
    package(tmp_path / "b")
    package(tmp_path / "a")
    package(tmp_path / "broken", **{"problem.yaml": "a: [1"})
    first, second, third = sources.read(str(tmp_path))
    assert isinstance(first, Problem)
    assert isinstance(second, Problem)
    assert (first.id, second.id) == ("kattis/a", "kattis/b")
    assert isinstance(third, Malformed)
    assert third.reason.startswith("not a problem package")


def test_the_newer_format_has_other_names(tmp_path: Path) -> None:
    sheet = "problem_format_version: 2023-07-draft\nname:\n  en: Double\ntype: pass-fail\nlimits:\n  time_limit: 3\n"
    files = {"problem.yaml": sheet, "statement/problem.en.md": "Double it.", "data/test_group.yaml": ""}
    folder = package(tmp_path / "double", **files)
    shutil.rmtree(folder / "problem_statement")
    made = one(folder)
    assert made.limits is not None
    assert made.limits.cpu_seconds == 3.0
    assert "Double it." in (made.prompt or "")
    assert (made.meta or {})["title"] == "Double"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problem.yaml": "validation: custom"}, "the problem has 0 validators"),
        ({"problem.yaml": "validation: custom interactive"}, "the problem has 0 validators"),
        ({"problem.yaml": "type: [multi-pass]"}, "the problem has 0 validators"),
        ({"problem.yaml": "[1]"}, "problem.yaml is not a mapping"),
        ({"data/secret/c.in": "1"}, "the test secret/c has no answer"),
        ({"problem.yaml": "validator_flags: colour"}, "validator flag 'colour' is not known"),
        (
            {
                "data/secret/testdata.yaml": "output_validator_flags: case_sensitive",
                "problem.yaml": "validator_flags: x",
            },
            "compared in different ways",
        ),
    ],
)
def test_what_cannot_be_judged_here_is_refused(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    assert reason in refused(package(tmp_path / "double", **changes))


def test_a_link_that_leads_out_of_the_package_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("mine")
    folder = package(tmp_path / "double")
    (folder / "data" / "secret" / "c.in").symlink_to(tmp_path / "secret.txt")
    assert "data/secret/c.in is a link to a place outside" in refused(folder)


def test_a_link_in_a_part_that_nothing_needs_does_not_matter(tmp_path: Path) -> None:
    """Authors keep one header for all their problems."""
    (tmp_path / "validation.h").write_text("")
    folder = package(tmp_path / "double", **{"input_validators/v/v.cpp": "", "answer_validators/v.cpp": ""})
    for part in ("input_validators/v", "answer_validators"):
        (folder / part / "validation.h").symlink_to(tmp_path / "validation.h")
    assert one(folder).validators == []


def test_a_package_whose_tests_are_to_be_generated_says_so(tmp_path: Path) -> None:
    folder = package(tmp_path / "double", **{"generators/generators.yaml": "data: {}"})
    shutil.rmtree(folder / "data")
    assert "it has no tests" in refused(folder)


def test_flags_of_the_default_validator() -> None:
    assert checker("") == Checker(ignore_case=True)
    assert checker("case_sensitive float_tolerance 1e-6") == Checker(float_tolerance=1e-6, integers_too=True)
    assert checker("float_absolute_tolerance 0.1").absolute_tolerance == 0.1
    assert checker("space_change_sensitive case_sensitive") == Checker(type="exact")
    with pytest.raises(ValueError, match="in place of a number"):
        checker("float_tolerance")
    with pytest.raises(ValueError, match="cannot do both"):
        checker("space_change_sensitive float_tolerance 1e-6")


def test_validators_of_inputs_are_read(tmp_path: Path) -> None:
    files = {
        "input_validators/one/v.py": "import help",
        "input_validators/one/help.py": "",
        "input_validators/v.cpp": "x",
    }
    assert one(package(tmp_path / "two programs in a folder", **files)).validators == []
    del files["input_validators/one/help.py"]
    files["input_validators/one/data.txt"] = "y"
    found = one(package(tmp_path / "package", **files)).validators
    assert [(each.language, each.code, each.files, each.accepts) for each in found] == [
        ("python", "import help", {"data.txt": "y"}, 42),
        ("cpp23", "x", {}, 42),
    ]
    assert one(package(tmp_path / "none")).validators == []
    unknown = files | {"input_validators/v.ctd": "INT(1, 2)"}
    assert one(package(tmp_path / "unknown", **unknown)).validators == []
    with_arguments = files | {"data/testdata.yaml": "input_validator_flags: --small"}
    assert one(package(tmp_path / "arguments", **with_arguments)).validators == []
