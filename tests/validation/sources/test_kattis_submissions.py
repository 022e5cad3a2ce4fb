"""The verdicts that `submissions.yaml` of a Kattis package asks for, and what lies beside programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_service.commands import grade_package
from sandbox_service.schema import Grade, GroupResult, JudgeProgram, TestResult, Verdict
from sandbox_service.validation.sources.kattis_submissions import Rules
from tests.validation.sources.reading import one, refused
from tests.validation.sources.test_packages import package

yaml = pytest.importorskip("yaml")


@pytest.mark.parametrize(
    ("sheet", "path", "verdicts"),
    [
        ("", "accepted/a.py", ["AC"]),
        ("", "mixed/a.py", []),
        ("mixed: {permitted: [AC, TLE]}", "mixed/a.py", ["AC", "TLE"]),
        ("mixed/*.py: {permitted: [WA], required: [WA]}", "mixed/a.py", ["WA"]),
        ("mixed/*.py: {permitted: [WA], required: [WA]}", "mixed/a.cc", []),
        ("'mixed/{a,b}.{py,cc}': {required: [RTE, WA]}", "mixed/b.cc", ["NOT_AC"]),
        ("'mixed/{a,b}.{py,cc}': {required: [RTE, WA]}", "mixed/c.cc", []),
        ("'*': {permitted: [AC, WA, RTE], required: [RTE]}", "mixed/a.py", ["WA", "RTE", "MLE"]),
        ("'*/a.py': {permitted: [AC, RTE]}", "wrong_answer/a.py", []),
        ("'*/a.py': {permitted: [AC, WA, RTE]}", "wrong_answer/a.py", ["WA"]),
        ("wrong_answer: {permitted: [AC, WA, TLE]}", "wrong_answer/a.py", ["WA", "TLE"]),
        ("rejected/a.py: {permitted: [AC, TLE]}", "rejected/a.py", ["TLE"]),
        ("mixed/a.py: {authors: A, use_for_time_limit: false}", "mixed/a.py", []),
        ("accepted/a.py: {use_for_time_limit: false}", "accepted/a.py", ["AC"]),
        ("mixed/a.py: {secret/g1: {permitted: [AC]}, secret/g2: {required: [TLE]}}", "mixed/a.py", ["NOT_AC"]),
        ("mixed/a.py: {permitted: [AC, TLE], secret/g2: {required: [TLE]}}", "mixed/a.py", ["TLE"]),
        ("'mixed/a+.py': {permitted: [WA]}", "mixed/aa.py", []),
    ],
)
def test_rules_name_verdicts(sheet: str, path: str, verdicts: list[str]) -> None:
    folder, _, name = path.partition("/")
    assert Rules(yaml.safe_load(sheet) or {}).verdicts_of(folder, name, ["pass"]) == verdicts


@pytest.mark.parametrize(
    ("rule", "is_met"),
    [
        ("{score: 50}", True),
        ("{score: 40}", False),
        ("{score: [40, 60]}", True),
        ("{score: [51, 60]}", False),
        ("{secret/g1: {score: 30}, secret/g2: {score: 20}}", True),
        ("{secret/g1: {score: 20}}", False),
        ("{message: 'too few'}", True),
        ("{message: 'too many'}", False),
        ("{permitted: [AC, WA]}", True),
    ],
)
def test_rules_ask_for_scores_and_messages(rule: str, is_met: bool) -> None:
    groups = [GroupResult(name="secret/g1", score=30, points=40), GroupResult(name="secret/g2", score=20, points=60)]
    tests = [TestResult(index=0, verdict=Verdict.WA, message="Too few words")]
    grade = Grade(id="x", verdict=Verdict.WA, reward=0.5, score=50.0, groups=groups, tests=tests)
    demands = Rules(yaml.safe_load(f"mixed/*: {rule}")).demands_of("mixed", "a.py")
    assert demands.are_met(grade) == is_met
    assert Rules({}).demands_of("mixed", "a.py").are_met(grade)


def test_a_score_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a number nor a range"):
        Rules({"mixed/*": {"score": [1, 2, 3]}}).demands_of("mixed", "a.py")


def test_a_rule_comes_before_words_for_domjudge() -> None:
    rules = Rules({"mixed/a.py": {"permitted": ["WA"]}})
    assert rules.verdicts_of("mixed", "a.py", ["# @EXPECTED_RESULTS@: CORRECT"]) == ["WA"]
    assert rules.verdicts_of("mixed", "b.py", ["# @EXPECTED_RESULTS@: CORRECT"]) == ["AC"]


def test_a_package_brings_its_rules(tmp_path: Path) -> None:
    sheet = "several/*:\n  permitted: [AC, TLE]\nseveral/c:\n  language: cpp\n  entrypoint: start.cc\n"
    files = {
        "submissions/submissions.yaml": sheet,
        "submissions/several/a.py": "pass",
        "submissions/several/c/a.cc": "",
        "submissions/several/c/start.cc": "int main() {}",
    }
    folder = package(tmp_path / "double", **files)
    made = one(folder)
    assert [each.verdicts for each in made.solutions if each.name == "several/a.py"] == [["AC", "TLE"]]
    found = {each.path.name: each for each in grade_package.solutions(made, folder, [])}
    assert found["a.py"].expected == ("AC", "TLE")
    assert (found["c"].language_name, found["c"].text, [*found["c"].files]) == ("cpp23", "int main() {}", ["a.cc"])


def test_an_unknown_verdict_is_refused(tmp_path: Path) -> None:
    rule = "accepted/*: {permitted: [AC, OK]}"
    assert "the verdict 'OK'" in refused(package(tmp_path / "double", **{"submissions/submissions.yaml": rule}))


def test_what_tools_leave_is_no_part_of_a_program(tmp_path: Path) -> None:
    files = {
        "problem.yaml": "validation: custom\n",
        "output_validators/v/validate.py": "raise SystemExit(42)",
        "submissions/accepted/two_files/main.cc": "int main() {}",
    }
    folder = package(tmp_path / "double", **files)
    for name in ("output_validators/v/__pycache__/validate.pyc", "output_validators/v/.DS_Store",
                 "output_validators/.DS_Store", "submissions/accepted/two_files/a.out"):  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x7fELF\0\xff")
    (folder / "submissions" / "accepted" / "old.cc").write_bytes(b"// \xe9\nint main() {}")
    made = one(folder)
    assert isinstance(made.checker, JudgeProgram)
    assert [*(made.checker.files or {})] == ["validate.py"]
    found = {each.path.name: each for each in grade_package.solutions(made, folder, [])}
    assert found["two_files"].files == {}
    assert found["old.cc"].text == "// \u00e9\nint main() {}"


def test_a_validator_of_the_newer_format_judges_without_being_announced(tmp_path: Path) -> None:
    files = {"problem.yaml": "problem_format_version: 2023-07\nname: x\n", "output_validator/v.py": "exit(42)"}
    assert isinstance(one(package(tmp_path / "newer", **files)).checker, JudgeProgram)
    older = {"problem.yaml": "name: x\n", "output_validators/v.py": "exit(42)"}
    assert not isinstance(one(package(tmp_path / "older", **older)).checker, JudgeProgram)


def test_a_validator_of_one_file_has_the_headers_beside_it(tmp_path: Path) -> None:
    files = {"problem.yaml": "validation: custom\n", "output_validators/v.cc": "", "output_validators/validate.h": ""}
    made = one(package(tmp_path / "double", **files))
    assert isinstance(made.checker, JudgeProgram)
    assert [*(made.checker.files or {})] == ["v.cc", "validate.h"]


def test_a_sheet_of_domjudge_may_begin_with_a_mark(tmp_path: Path) -> None:
    made = one(package(tmp_path / "double", **{"domjudge-problem.ini": "\ufefftimelimit = '2.5'\r\n"}))
    assert made.limits is not None
    assert made.limits.cpu_seconds == 2.5
