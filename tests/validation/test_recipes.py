"""Every recipe of the project, from rows on a hub in a folder to clean lines, with real grading.

Compared with the library `datasets` on that folder where it is installed.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from sandbox_service import cli
from sandbox_service.validation import job
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.sources import optional_libraries
from tests.conftest import Service
from tests.validation.hub import COMMIT, REPOSITORIES, Real, StandIn, build

RECIPES = Path(__file__).parents[2] / "datasets" / "recipes"

# Of each recipe: read, left out, clean, and why the others are in quarantine.
COUNTS: dict[str, tuple[int, dict[str, int], int, dict[str, int]]] = {
    "archer-math": (3, {}, 2, {"contaminated": 1}),
    "archercoder": (6, {}, 3, {"contaminated": 1, "duplicate": 1, "too_few_tests": 1}),
    "code-r1-12k": (4, {}, 3, {"reference_fails": 1}),
    "codeforces": (2, {}, 2, {}),
    "deepcoder-24k": (5, {}, 3, {"contaminated": 1, "duplicate": 1}),
    "humaneval": (5, {"tests contain what the recipe excludes": 1}, 3, {"reference_fails": 1}),
    "livecodebench-v5": (5, {"date": 3}, 2, {}),
    "livecodebench-v6": (5, {"date": 4}, 1, {}),
    "mbpp": (4, {}, 3, {"reference_fails": 1}),
}


def filled_in(name: str) -> str:
    """The recipe with a commit for each source, as a user would write it."""
    text = (RECIPES / f"{name}.toml").read_text()
    return re.sub(r"^(path = .*)$", rf'\1\nrevision = "{COMMIT}"', text, flags=re.MULTILINE)


def made(name: str) -> Recipe:
    return Recipe.model_validate(tomllib.loads(filled_in(name)))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the hub."""
    build(tmp_path / "hub")
    monkeypatch.setattr(optional_libraries, "need", lambda *_: StandIn(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "hub"


def test_every_recipe_is_here_and_every_data_set_that_they_name() -> None:
    assert set(COUNTS) == {path.stem for path in RECIPES.glob("*.toml")}
    recipes = [made(name) for name in COUNTS]
    assert {each.path for recipe in recipes for each in (*recipe.sources, *recipe.evaluation)} == set(REPOSITORIES)


@pytest.mark.parametrize("name", COUNTS)
def test_a_recipe_gives_these_counts(name: str, hub: Path, service: Service) -> None:
    Path("recipe.toml").write_text(filled_in(name))
    assert cli.main(["validate", "recipe.toml", "--url", service.client.url]) == 0
    folder = Path("validated", name)
    manifest = json.loads((folder / job.MANIFEST).read_text())
    problems = manifest["problems"]
    assert problems["malformed"] == 0
    refused = [json.loads(line) for line in (folder / job.QUARANTINE).read_text().splitlines()]
    found = problems["read"], problems["left_out"], problems["clean"], manifest["causes"]
    assert found == COUNTS[name], [(each["id"], each["findings"]) for each in refused]
    for line in (folder / job.CLEAN).read_text().splitlines():
        origin = json.loads(line)["provenance"]
        assert origin["dataset"] in {each.path for each in made(name).sources}
        assert origin["revision"] == COMMIT


@pytest.mark.parametrize("name", COUNTS)
def test_the_library_gives_the_same_problems(name: str, hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        library = importlib.import_module("datasets")
    except ImportError:
        library = None
    if not hasattr(library, "load_dataset"):
        pytest.skip("the library datasets is not installed: pip install 'proctor[data]'")
    recipe = made(name)
    by_stand_in = [list(job.rows_of(each)) for each in (*recipe.sources, *recipe.evaluation)]
    monkeypatch.setattr(optional_libraries, "need", lambda *_: Real(library, hub))
    by_library = [list(job.rows_of(each)) for each in (*recipe.sources, *recipe.evaluation)]
    assert by_library == by_stand_in
