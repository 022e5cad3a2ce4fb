"""Every isolation tool: what it starts is isolated, and a tool that leaves something out is refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_service.doctor import preflight
from sandbox_service.doctor.preflight import Level
from sandbox_service.errors import ConfigurationError, JailDiedError, JailUnsafeError
from sandbox_service.sandbox import canary
from sandbox_service.sandbox.files import Program
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.sandbox.tools import TOOLS
from sandbox_service.schema import Limits
from sandbox_service.settings import Settings
from sandbox_service.slots import main
from tests.markers import needs
from tests.sandbox.pools import opened

LIMITS = Limits()
STAND_INS = {
    "only executes": ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "it shares our pid namespace"),
    "keeps the network": ('exec {tool} "$@"', "it shares our net namespace"),
    "complains and ends": ("echo something is wrong >&2; exit 1", "something is wrong"),
}


@needs("jail")
def settings_for(name: str, **fields: Any) -> Settings:
    """Settings that select this tool; skips the test where the tool is missing."""
    settings = Settings(isolation=name, **fields)
    if shutil.which(preflight.tool_of(settings).program) is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    if os.geteuid() != 0:
        pytest.skip("needs root: boxes get a uid of their own")
    return settings


@pytest.fixture(params=TOOLS)
def pool(request: pytest.FixtureRequest) -> Iterator[JailPool]:
    with opened(settings_for(request.param)) as jails:
        yield jails


def test_a_tool_is_chosen_by_its_name() -> None:
    for name in TOOLS:
        assert preflight.tool_of(Settings(isolation=name)).name == name
        assert preflight.tool_of(Settings(isolation=name, isolation_program="/opt/it")).program == "/opt/it"
    assert preflight.tool_of(Settings(isolation_program="/opt/firejail")).program == "/opt/firejail"


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="SANDBOX_ISOLATION: no isolation tool 'chroot'; there is: firejail"):
        preflight.require(Settings(isolation="chroot"))


@pytest.mark.parametrize("kind", ["std", "processes"])
def test_the_canary_is_blocked(pool: JailPool, kind: str) -> None:
    canary.check(pool.jail(kind), pool._uid)
    canary.check_deadline(pool.jail(kind))


def test_runs_are_answered(pool: JailPool) -> None:
    jail = pool.jail("std")
    with Program("print(int(input()) + 1)\ndef f(x):\n    return x + 1") as program:
        outcome = jail.run_stdin(program, b"41\n", LIMITS)
        assert (outcome.stdout, outcome.exit_code) == (b"42\n", 0)
    with Program("def f(x):\n    return x + 1") as program:
        calls = b'[{"function": "f", "args": [41], "kwargs": {}, "calls": null}]'
        assert jail.run_calls(program, calls, 1, LIMITS)[1] == b"42\n"
        test = b'{"code": "def check(f):\\n    assert f(41) == 42", "prelude": null, "entry_point": "f"}'
        report = jail.run_pair(program, "", test, LIMITS).report
        assert report is not None
        assert report["result"] == "passed"


def test_nothing_is_left_of_a_killed_sandbox(pool: JailPool) -> None:
    processes = pool.jail("std").processes()
    assert len(processes) >= 2
    pool.close()
    assert psutil.wait_procs(processes, timeout=10)[1] == []


@pytest.mark.parametrize("name", STAND_INS)
def test_a_bubblewrap_that_leaves_something_out_is_refused(name: str, tmp_path: Path) -> None:
    """For firejail see test_refusal.py."""
    tool = preflight.tool_of(settings_for("bubblewrap")).program
    script, reason = STAND_INS[name]
    stand_in = tmp_path / "bwrap"
    options = 'for option; do shift; [ "$option" = --unshare-net ] || set -- "$@" "$option"; done; '
    stand_in.write_text(f"#!/bin/sh\n{options}{script.format(tool=tool)}\n")
    stand_in.chmod(0o755)
    settings = settings_for("bubblewrap", isolation_program=str(stand_in))
    with pytest.raises((JailDiedError, JailUnsafeError), match=reason):
        main.pool_of(settings, settings.slot_count + 2).open()


def test_only_the_configured_tool_is_examined(tmp_path: Path) -> None:
    checks = {name: preflight.essential(Settings(isolation=name)) for name in TOOLS}
    assert preflight.account in checks["firejail"]
    assert preflight.account not in checks["bubblewrap"]
    found = preflight.isolation_tool(Settings(isolation="bubblewrap", isolation_program=str(tmp_path / "none")))
    assert found.level == Level.PROBLEM
    assert "apt-get install bubblewrap" in found.mend
