"""The command `proctor validate`: local and with a service, killed midway, and with errors in its input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_service import cli
from sandbox_service.commands import recipe_judge
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.output import plain
from tests.conftest import Service, need_firejail
from tests.validation.world import enter, kill_after, letters, sums, words

FILES = ("clean.jsonl", "quarantine.jsonl")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with problems and a recipe, with default settings."""
    enter(tmp_path, monkeypatch)
    few = sums(id="few", tests=sums().model_dump(mode="json")["tests"][:2])
    wrong = letters(id="wrong", solutions=[{"code": "print(input())"}])
    write(sums(), words(), letters(), few, wrong)
    Path("recipe.toml").write_text('name = "small"\n[[sources]]\npath = "problems.jsonl"\n')
    return tmp_path


def write(*problems: Problem) -> None:
    Path("problems.jsonl").write_text("".join(json.dumps(plain(each)) + "\n" for each in problems))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sandbox_service.cli", "validate", "recipe.toml", *arguments]


def results(folder: str) -> list[bytes]:
    return [Path(folder, name).read_bytes() for name in FILES]


def test_here_and_by_a_service_the_same_is_found(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run(command("--jobs", "2"), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "3 clean, 2 in quarantine, 0 left out of 5; 5 judged now" in done.stdout
    assert done.stdout.splitlines()[-1] == "validated/small/report.html"
    assert cli.main(["validate", "recipe.toml", "--url", service.client.url, "--output", "by-url"]) == 0
    assert results("by-url") == results("validated/small")
    manifest = json.loads(Path("by-url/manifest.json").read_text())
    assert manifest["causes"] == {"reference_fails": 1, "too_few_tests": 1}
    assert manifest["graders"]
    assert manifest["sources"][0]["hash"].startswith("sha256:")


def test_killed_in_the_middle_it_goes_on_and_comes_to_the_same() -> None:
    need_firejail()
    tests = sums().model_dump(mode="json")["tests"]
    write(
        *(
            sums(
                id=f"p{n}",
                prompt=" ".join(f"w{n}x{each}" for each in range(60)),
                tests=[{**tests[0], "input": f"1 2 {'  ' * n}"}, *tests[1:]],
            )
            for n in range(14)
        )
    )
    journal = Path("parts/journal.jsonl")
    kill_after(command("--output", "parts", "--jobs", "1"), journal, lines=5)
    done = journal.read_bytes().count(b"\n") - 1
    assert done < 14, "it was too quick to be killed"
    assert not Path("parts/clean.jsonl").exists()
    assert cli.main(["validate", "recipe.toml", "--output", "parts", "--jobs", "2"]) == 0
    assert cli.main(["validate", "recipe.toml", "--output", "whole", "--jobs", "2"]) == 0
    assert results("parts") == results("whole")
    assert json.loads(Path("parts/manifest.json").read_text())["run"]["judged_now"] == 14 - done


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml"], "none.toml: No such file"),
        (["recipe.toml", "--jobs", "0"], "--jobs: must be at least 1"),
        (["recipe.toml", "--limit", "0"], "--limit: must be at least 1"),
        (["recipe.toml", "--url", "http://127.0.0.1:9", "--jobs", "1"], "remove it or --url"),
        (["recipe.toml", "--url", "nonsense"], "not an address"),
        (["recipe.toml", "--url", "http://127.0.0.1:9"], "is the service running?"),
    ],
)
def test_what_cannot_be_done_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    monkeypatch.setattr(recipe_judge, "FIRST_PATIENCE_SECONDS", 0.1)
    assert cli.main(["validate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err
