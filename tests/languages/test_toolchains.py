"""Versions of compilers: asked at the same time, and never waited for by those who must not wait."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from sandbox_service.languages import LANGUAGES, toolchains
from sandbox_service.languages.base import Source
from sandbox_service.languages.compiler import Compiler
from sandbox_service.languages.launched import LaunchedRuntime
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.schema import Limits

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


@pytest.mark.parametrize(
    ("factors", "language", "factor"),
    [
        ({"cpp": 2.0}, "cpp", 2.0),
        ({"cpp": 2.0}, "cpp11", 2.0),
        ({"cpp": 2.0, "cpp20": 3.0}, "cpp20", 3.0),
        ({"cpp20": 3.0}, "cpp", 1.0),
        ({"cpp": 2.0}, "c", 1.0),
    ],
)
def test_the_time_factor_of_a_language_holds_for_its_other_standards(
    factors: dict[str, float], language: str, factor: float, tmp_path: Path
) -> None:
    runtime = LaunchedRuntime(Compiler(MachineCache(tmp_path, 1), 1), factors)
    limits = runtime.limits_of(Source(language, "", Limits(cpu_seconds=2, wall_seconds=4)))
    assert (limits.cpu_seconds, limits.wall_seconds) == (2 * factor, 4 * factor)
