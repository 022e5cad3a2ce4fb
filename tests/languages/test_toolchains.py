"""Versions of compilers: asked at the same time, and never waited for by those who must not wait."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from sandbox_service.languages import LANGUAGES, toolchains

WAIT_SECONDS = 60
ROWS = [each for each in LANGUAGES if each.toolchain is not None][: toolchains.ASKED_AT_ONCE]


def compilers(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Replace the machine's compilers by some that run a script to say their version; `$0` is the number of each."""
    rows = []
    for number, language in enumerate(ROWS):
        assert language.toolchain is not None
        toolchain = dataclasses.replace(language.toolchain, version=("/bin/sh", "-c", script, str(number)))
        rows.append(dataclasses.replace(language, toolchain=toolchain))
    monkeypatch.setattr(toolchains, "present", lambda: rows)


def test_versions_are_asked_in_the_background(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compilers(monkeypatch, f"while ! [ -e {tmp_path}/said ]; do sleep 0.02; done; echo version 1.$0.7")
    known = toolchains.KnownVersions()
    first = known.now()  # which no compiler has answered
    assert list(first) == [each.name for each in ROWS]
    assert list(first.values()) == [each.toolchain.flags for each in ROWS if each.toolchain]
    (tmp_path / "said").touch()
    end = time.monotonic() + WAIT_SECONDS
    while known.now() == first:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert [words.partition(":")[0] for words in known.now().values()] == [f"1.{n}.7" for n in range(len(ROWS))]


def test_compilers_are_asked_at_the_same_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each answers only after all were asked."""
    count = f"$(ls {tmp_path} | wc -l)"
    compilers(monkeypatch, f"touch {tmp_path}/$0; while [ {count} -lt {len(ROWS)} ]; do sleep 0.02; done; echo 2.$0")
    assert [words.partition(":")[0] for words in toolchains.versions().values()] == [f"2.{n}" for n in range(len(ROWS))]
