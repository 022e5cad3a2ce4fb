"""Real problems: those that are known to be unfit are found, and those that are known to be good are left alone.

The data are not part of the project (see the fixture `data`); without them this is skipped. References are not run with
other hash seeds here: that has tests of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import cli
from tests.conftest import need_firejail
from tests.service.test_data import REFUSED

TWINS = {
    "codecontests/421_d_bug_in_code_563": "codecontests/420_c_bug_in_code_5355",
    "codecontests/1243_c_tile_painting_2415": "codecontests/1242_a_tile_painting_5747",
    "codecontests/99_d_help_king_8501": "codecontests/98_b_help_king_3609",
    "codecontests/1281_e_jeremy_bearimy_9704": "codecontests/1280_c_jeremy_bearimy_11057",
}


def validated(folder: Path, data: Path, name: str, **more: Any) -> dict[str, list[dict[str, str]]]:
    """What was found in each problem that is in quarantine."""
    need_firejail()
    said = [f'name = "{name}"', f'output = "{folder}"', *(f"{field} = {value}" for field, value in more.items())]
    said += ["[thresholds]", "hash_seeds = []", "[[sources]]", f'path = "{data / name}.jsonl"']
    recipe = folder / "recipe.toml"
    recipe.write_text("\n".join(said))
    assert cli.main(["validate", str(recipe)]) == 0
    lines = (folder / "quarantine.jsonl").read_text().splitlines()
    return {line["id"]: line["findings"] for line in map(json.loads, lines)}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_LOG_LEVEL", "warning")


def test_codecontests(tmp_path: Path, data: Path) -> None:
    found = validated(tmp_path, data, "codecontests_100")
    assert {name.rpartition("/")[0] for name in REFUSED} <= found.keys()
    for name, other in TWINS.items():
        assert any(each["name"] == "twin" and other in each["reason"] for each in found[name])
    assert len(found) <= 45, "each of 42 was looked at: see docs/validation.md"


def test_humaneval(tmp_path: Path, data: Path) -> None:
    assert validated(tmp_path, data, "humaneval", severity='{ too_few_tests = "note", too_short = "note" }') == {}
