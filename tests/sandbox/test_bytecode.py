"""Zygotes read the guest's bytecode where it lies beside the sources, and compile in their jail where it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sandbox_service.languages import python
from sandbox_service.sandbox.files import Program
from sandbox_service.schema import Limits
from tests.sandbox.pools import opened
from tests.sandbox.test_tools import settings_for

SOURCES = ("program.py", "zygote.py")


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two sources in place of the guest's."""
    for name in SOURCES:
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(python, "GUEST", tmp_path)
    return tmp_path


def test_what_is_missing_or_old_is_compiled(guest: Path) -> None:
    for text in ("x = 1\n", "x = 12\n"):
        (guest / "zygote.py").write_text(text)
        assert python._bytecode_tag.__wrapped__() == sys.implementation.cache_tag
        assert {path.name for path in (guest / "__pycache__").iterdir()} == {
            f"{Path(name).stem}.{sys.implementation.cache_tag}.pyc" for name in SOURCES
        }
    before = [path.stat() for path in (guest / "__pycache__").iterdir()]
    assert python._bytecode_tag.__wrapped__() == sys.implementation.cache_tag
    assert [path.stat().st_ino for path in (guest / "__pycache__").iterdir()] == [each.st_ino for each in before]


def test_where_nothing_can_be_written_there_is_no_bytecode(guest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (guest / "__pycache__").write_text("no folder")
    assert python._bytecode_tag.__wrapped__() == ""
    monkeypatch.setattr(sys, "pycache_prefix", str(guest / "elsewhere"))
    assert python._bytecode_tag.__wrapped__() == ""


@pytest.mark.parametrize("is_beside", [True, False])
def test_a_zygote_starts_with_bytecode_and_without(monkeypatch: pytest.MonkeyPatch, is_beside: bool) -> None:
    """Without, it starts a second time, which its command says."""
    if not is_beside:
        monkeypatch.setattr(python, "_bytecode_tag", lambda: "another")
    with opened(settings_for("firejail")) as pool, Program("print(int(input()) + 1)") as program:
        outcome = pool.jail("std").run_stdin(program, b"41\n", Limits())
        assert (outcome.stdout, outcome.exit_code) == (b"42\n", 0)
        commands = [each.cmdline() for each in pool.jail("std").processes()]
    options = {command[-1] for command in commands if command[0].endswith("python3")}
    assert ['"compiled": true' in each for each in options] == [not is_beside]
