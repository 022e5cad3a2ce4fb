"""The command `proctor strengthen`: local and with a service, killed midway, and with errors in its input."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_service import cli
from sandbox_service.commands.recipe_run import in_words, room_for
from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.output import plain
from tests.conftest import Service, need_firejail
from tests.markers import one_in
from tests.validation.world import kill_after, letters, stop_after, sums

HALVES = "def halve(n, items):\n    return [each // n for each in items if each > 0]"
RECIPE = 'name = "small"\n[[sources]]\npath = "problems.jsonl"\n[strengthen]\ninputs = 12\nmutants = 8\naudit = 1\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with problems and a recipe, with default settings."""
    for name in [name for name in os.environ if name.startswith(("SANDBOX_", "PROCTOR_API"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SANDBOX_LOG_LEVEL", "warning")
    monkeypatch.chdir(tmp_path)
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def write(*problems: Problem) -> None:
    Path("problems.jsonl").write_text("".join(json.dumps(plain(each)) + "\n" for each in problems))


def calls(kind: str) -> Problem:
    """A problem whose tests are calls or assertions."""
    given = [(2, [4, 6, -1]), (3, [9, 2]), (1, [0, 5, 7])]
    wanted = [[each // n for each in items if each > 0] for n, items in given]
    pairs = list(zip(given, wanted, strict=True))
    if kind == "call":
        tests = [{"type": "call", "function": "halve", "args": list(args), "output": out} for args, out in pairs]
    else:
        lines = "".join(f"    assert candidate(*{args!r}) == {out!r}\n" for args, out in pairs)
        lines = lines.replace("*(", "").replace(")) ==", ") ==")
        tests = [{"type": "assert", "entry_point": "halve", "code": f"def check(candidate):\n{lines}"}]
    return sums(id=kind, tests=tests, solutions=[{"code": HALVES}])


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sandbox_service.cli", "strengthen", "recipe.toml", *arguments]


def keys(journal: Path) -> list[str]:
    """Return the keys of all whole lines of a journal but the first."""
    return [json.loads(line)["key"] for line in journal.read_bytes().split(b"\n")[1:-1]]


def result(folder: str) -> bytes:
    return Path(folder, "clean.jsonl").read_bytes()


@pytest.mark.parametrize("more", one_in(2, [(), (letters,)]))
def test_here_and_by_a_service_the_same_is_made(service: Service, more: tuple[Callable[[], Problem], ...]) -> None:
    count = 3 + len(more)
    suite = sums(id="unread", tests=None, suite=f"sha256:{'0' * 64}")
    write(sums(), calls("call"), calls("assert"), *(each() for each in more), suite)
    done = subprocess.run(command("--jobs", "2"), capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{count} strengthened with" in done.stdout
    assert done.stdout.splitlines()[-1] == "strengthened/small/report.html"
    assert cli.main(["strengthen", "recipe.toml", "--url", service.client.url, "--output", "by-url"]) == 0
    assert result("by-url") == result("strengthened/small")
    lines = [Problem.model_validate_json(line) for line in result("by-url").splitlines()]
    for line in lines[:count]:
        assert line.strength is not None
        assert line.strength.after.refused == line.strength.after.programs
        assert line.tests is not None
        assert line.tests[-1].role == "audit"
        grade = service.grade(code=line.solutions[0].code, tests=[each.model_dump(mode="json") for each in line.tests])
        assert (grade["verdict"], grade["suspect"]) == ("AC", False)
    manifest = json.loads(Path("by-url/manifest.json").read_text())
    assert manifest["problems"]["strengthened"] == count
    assert manifest["strength"]["after"]["share"] == 1.0
    page = Path("by-url/report.html").read_text()
    assert "Wrong programs that are refused now" in page
    assert "<svg" in page


@pytest.mark.parametrize("count", one_in(2, [1, 2]))
def test_killed_in_the_middle_it_goes_on_and_comes_to_the_same(count: int) -> None:
    need_firejail()
    write(*(sums(id=f"p{n}") for n in range(count)))
    journal = Path("parts/journal.jsonl")
    kill_after(command("--output", "parts", "--jobs", "1"), journal, lines=6)
    assert not Path("parts/clean.jsonl").exists()
    before = keys(journal)
    assert cli.main(["strengthen", "recipe.toml", "--output", "parts", "--jobs", "2"]) == 0
    assert cli.main(["strengthen", "recipe.toml", "--output", "whole", "--jobs", "2"]) == 0
    assert result("parts") == result("whole")
    after = keys(journal)
    assert len(after) > len(before) > 0
    assert [key for key in before if after.count(key) != before.count(key)] == [], "what was judged is not judged again"
    assert cli.main(["strengthen", "recipe.toml", "--output", "whole", "--jobs", "2"]) == 0
    assert json.loads(Path("whole/manifest.json").read_text())["run"]["judged_now"] == 0


@pytest.mark.parametrize("name", ["strengthen", "validate"])
def test_sigterm_ends_it_with_a_message_that_says_how_to_continue(name: str) -> None:
    need_firejail()
    write(*(sums(id=f"p{n}") for n in range(40)))
    arguments = [sys.executable, "-m", "sandbox_service.cli", name, "recipe.toml", "--output", "parts", "--jobs", "1"]
    status, said = stop_after(arguments, Path("parts/journal.jsonl"), signal.SIGTERM, lines=3)
    assert status == 130
    assert said == "proctor: interrupted; finished work is kept, and the same command continues the run\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml"], "none.toml: No such file"),
        (["recipe.toml", "--limit", "0"], "--limit: must be at least 1"),
        (["recipe.toml", "--url", "nonsense"], "not an address"),
    ],
)
def test_what_cannot_be_done_is_said(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    write(sums())
    assert cli.main(["strengthen", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err


@pytest.mark.parametrize("command", ["strengthen", "validate"])
def test_sources_without_rows_are_an_error(capsys: pytest.CaptureFixture[str], command: str) -> None:
    need_firejail()
    Path("problems.jsonl").write_text("\n")
    assert cli.main([command, "recipe.toml", "--jobs", "1"]) == 2
    assert "the sources have no rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("per_second", "said"), [(12.34, "12.3/s"), (1.0, "1.0/s"), (0.4, "24.0/min"), (0.001, "3.6/h"), (0.0, "0.0/h")]
)
def test_a_rate_is_said_in_a_unit_in_which_it_is_no_0(per_second: float, said: str) -> None:
    assert in_words(per_second) == said


def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No space left on device; make room"), room_for(tmp_path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
