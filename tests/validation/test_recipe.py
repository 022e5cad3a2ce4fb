"""Recipes: the project's are valid, and a misspelt field is refused with advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation import recipe, sources
from tests.validation import world

MINIMAL = 'name = "x"\n[[sources]]\npath = "x"\n'
RECIPES = sorted((Path(__file__).parents[2] / "datasets" / "recipes").glob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_of_the_project_can_be_read(path: Path) -> None:
    found = recipe.read(path)
    assert found.name == path.stem
    assert {each.reader for each in (*found.sources, *found.evaluation)} <= sources.READERS.keys()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name is missing"),
        ('name = "x"\nsources = []', "sources should have 1 or more entries"),
        ('name = "x"\nsource = []', "source is not known"),
        ('name = "a/b"\n[[sources]]\npath = "x"', "name should match"),
        ('name = "x"\n[[sources]]\npath = "x"\nlimits = 3', "sources[0].limits is not known"),
        (
            'name = "x"\n[[sources]]\npath = "x"\n[severity]\nimages = "off"',
            "there is no finding 'images'; there are: malf",
        ),
        ('name = "x"\n[[sources]]\npath = "x"\n[severity]\nimage = "maybe"', "severity.image should be"),
        (
            'name = "x"\n[[sources]]\npath = "x"\n[thresholds]\nmost_limit_seconds = 0.5',
            "least_limit_seconds is greater than",
        ),
        (f"{MINIMAL}[difficulty]", "difficulty is wrong: set either results"),
        (f'{MINIMAL}[difficulty]\nresults = "x"\nurl = "http://x"', "difficulty is wrong: set either results"),
        (f'{MINIMAL}[difficulty]\nurl = "http://x"', "url needs model"),
        (f'{MINIMAL}[difficulty]\nresults = "x"\nleast = 0.9\nmost = 0.1', "least is greater than most"),
        (
            f'{MINIMAL}[filters]\ndifficulty = [0.1, 0.9]\n[difficulty]\nurl = "http://x"\nmodel = "m"',
            "use difficulty.least and difficulty.most",
        ),
        (f'{MINIMAL}[strengthen]\ninputs = "8"', "strengthen.inputs should be an integer"),
        (f"{MINIMAL}[strengthen]\ninputs = true", "strengthen.inputs should be an integer"),
        (f"{MINIMAL}[strengthen]\ninputs = 8.0", "strengthen.inputs should be an integer"),
        (f'{MINIMAL}[thresholds]\nsimilarity = "0.5"', "thresholds.similarity should be a number"),
        (f'{MINIMAL}[filters]\ndifficulty = ["0.1", 0.9]', "filters.difficulty[0] should be a number"),
        (f"{MINIMAL}[filters]\ndifficulty = [0.1]", "filters.difficulty[1] is missing"),
        (f'{MINIMAL}[filters]\nfrom_date = "2024-13-45"', "filters.from_date is wrong: month must be in 1..12"),
        (f"{MINIMAL}[filters]\ndifficulty = [0.9, 0.1]", "so that nothing is kept"),
        (f'{MINIMAL}[filters]\nfrom_date = "2024-01-02"\nuntil_date = "2024-01-02"', "so that nothing is kept"),
        ("name = ", "not TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"r\.toml: ") as caught:
        recipe.read(path)
    assert said in str(caught.value)


def test_a_file_may_begin_with_the_mark_of_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(MINIMAL, encoding="utf-8-sig")
    assert recipe.read(path).name == "x"


def test_whole_numbers_may_stand_for_others(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(f"{MINIMAL}[filters]\ndifficulty = [0, 1]\n[thresholds]\nsimilarity = 1")
    assert recipe.read(path).filters.difficulty == (0.0, 1.0)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        recipe.read(tmp_path / "none.toml")


def test_who_judges_and_where_it_is_written_change_nothing() -> None:
    first = world.recipe("a", judge={"slots": 1})
    assert first.fingerprint == world.recipe("b", judge={"url": "http://127.0.0.1:1"}).fingerprint
    assert first.fingerprint != world.recipe("a", thresholds={"least_tests": 4}).fingerprint


def test_a_model_may_be_asked_about_what_was_judged_before() -> None:
    asked = {"url": "http://127.0.0.1:1/v1", "model": "m", "most": 0.9}
    assert world.recipe("a").fingerprint == world.recipe("a", difficulty=asked).fingerprint
