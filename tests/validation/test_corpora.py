"""Published problems: known defects are found, and problems known to be good are clean.

Skipped without the data, which are not part of the project (see the fixture `data`). Runs without other hash seeds,
which have tests of their own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import cli
from sandbox_service.formats.problem import Problem
from sandbox_service.validation import checks, finding, sources
from sandbox_service.validation.checks.constraints import are_kept, bounds_of
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.evidence import Evidence
from tests.conftest import need_firejail
from tests.service.test_data import REFUSED
from tests.validation.world import evidence, recipe, run

SAMPLES = sorted((Path(__file__).parents[2] / "datasets" / "samples").glob("*.jsonl"))

FEW = {29: 2, 34: 1, 35: 2}  # assertions, by the number in HumanEval
FIRST = 36  # problems, with all of FEW
TWINS = {
    "codecontests/421_d_bug_in_code_563": "codecontests/420_c_bug_in_code_5355",
    "codecontests/1243_c_tile_painting_2415": "codecontests/1242_a_tile_painting_5747",
    "codecontests/99_d_help_king_8501": "codecontests/98_b_help_king_3609",
    "codecontests/1281_e_jeremy_bearimy_9704": "codecontests/1280_c_jeremy_bearimy_11057",
}


def validated(folder: Path, data: Path, name: str, *arguments: str, **more: Any) -> dict[str, list[dict[str, str]]]:
    """The findings of each problem in quarantine."""
    need_firejail()
    said = [f'name = "{name}"', f'output = "{folder}"', *(f"{field} = {value}" for field, value in more.items())]
    said += ["[thresholds]", "hash_seeds = []", "[[sources]]", f'path = "{data / name}.jsonl"']
    recipe = folder / "recipe.toml"
    recipe.write_text("\n".join(said))
    assert cli.main(["validate", str(recipe), *arguments]) == 0
    lines = (folder / "quarantine.jsonl").read_text().splitlines()
    return {line["id"]: line["findings"] for line in map(json.loads, lines)}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_LOG_LEVEL", "warning")


@pytest.mark.full
def test_codecontests(tmp_path: Path, data: Path) -> None:
    found = validated(tmp_path, data, "codecontests_100")
    assert {name.rpartition("/")[0] for name in REFUSED} <= found.keys()
    for name, other in TWINS.items():
        assert any(each["name"] == "twin" and other in each["reason"] for each in found[name])
    assert len(found) <= 45, "each of 42 was looked at: see docs/validation-codecontests.md"


@pytest.mark.parametrize(
    ("name", "prefix", "limit"),
    [
        ("humanevalpack_python_0_59", "humanevalpack/Python", FIRST),
        pytest.param("humanevalpack_python_0_59", "humanevalpack/Python", 60, marks=pytest.mark.full),
        pytest.param("humaneval", "HumanEval", 164, marks=pytest.mark.full),
    ],
)
def test_humaneval(tmp_path: Path, data: Path, name: str, prefix: str, limit: int) -> None:
    """Nothing but those with one or two assertions, of the first 36, of 60 and of 164."""
    found = validated(tmp_path, data, name, "--limit", str(limit))
    told = {each: findings[0]["reason"].split()[0] for each, findings in found.items()}
    assert told == {f"{prefix}/{number}": str(count) for number, count in FEW.items()}


def test_quixbugs_has_no_statements(tmp_path: Path, data: Path) -> None:
    """Its rows have a function's name and nothing that is asked of it."""
    problems = sources.read(str(data / "quixbugs.jsonl"), "")
    found = [checks.findings(each, Evidence(), recipe(tmp_path)) for each in problems if isinstance(each, Problem)]
    assert all("too_short" in {each.name for each in findings} for findings in found)
    assert len(found) == 31


def test_bounds_of_codecontests_are_kept_but_by_one_problem(tmp_path: Path, data: Path) -> None:
    """Its two inputs with n = 1, where n ≥ 2 is promised, are there: no other accusation is made."""
    rows = sources.read(str(data / "codecontests_100.jsonl"), "")
    problems = [each for each in rows if isinstance(each, Problem)]
    assert sum(bounds_of(text_of(each)) is not None for each in problems) == 75
    noted = {each.id: [*are_kept(each, Evidence(), recipe(tmp_path))] for each in problems}
    assert [name for name, findings in noted.items() if findings] == ["codecontests/1324_f_maximum_white_subtree_3668"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_our_own_samples_are_not_accused_by_what_is_only_looked_at(tmp_path: Path, path: Path) -> None:
    """Their references are taken to pass, and nothing is run."""
    problems = [Problem.model_validate_json(line) for line in path.read_text().splitlines()]
    for each in problems:
        seen = evidence(run("reference", ["AC"] * len(each.tests or ())))
        assert finding.quarantine_causes(checks.findings(each, seen, recipe(tmp_path)), {}) == [], each.id
