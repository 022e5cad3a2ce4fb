"""The doctor: every check sees what it is for, the attacks are attacks, and this machine is examined in earnest."""

from __future__ import annotations

import ast
import json
import os
import platform
import pwd
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox_service import bootstrap, cli
from sandbox_service.doctor import examination, machine, preflight, proof
from sandbox_service.doctor.preflight import Check, Finding, Level
from sandbox_service.doctor.proof import Attempt
from sandbox_service.errors import ConfigurationError, JailDiedError, JailUnsafeError, SandboxError
from sandbox_service.grading.grader import Grader
from sandbox_service.languages import find, toolchains
from sandbox_service.schema import Verdict
from sandbox_service.settings import Settings
from tests.conftest import need_firejail

OK, WARNING, PROBLEM = Level


def script(path: Path, text: str) -> str:
    """A program that prints this."""
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    path.chmod(0o755)
    return str(path)


def test_a_library_that_the_operator_names_is_missed() -> None:
    found = machine.libraries(Settings(libraries="numpy,no-such-library"))
    assert found.level == WARNING
    assert "not installed: no-such-library" in found.text
    assert "no-such-library" in found.mend
    assert "no-such-library" not in machine.libraries(Settings()).text


# --- what every jail needs


def test_an_old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for release, level in {"5.8.18-generic": PROBLEM, "5.9.0": OK, "5.10.0-32-amd64": OK, "4.19.0": PROBLEM}.items():
        monkeypatch.setattr(platform, "release", lambda release=release: release)
        assert preflight.system(Settings()).level == level, release


def test_elsewhere_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    (found,) = examination.examine(Settings())
    assert found.level == PROBLEM


@pytest.mark.parametrize(
    ("says", "level"),
    [
        ("firejail version 0.9.72", OK),
        ("firejail version 0.9.66", WARNING),
        ("firejail version 0.9.80", OK),
        ("", WARNING),
        ("ls (GNU coreutils) 9.1", PROBLEM),
    ],
)
def test_versions_of_firejail(says: str, level: Level, tmp_path: Path) -> None:
    found = preflight.isolation_tool(Settings(isolation_program=script(tmp_path / "firejail", says)))
    assert found.level == level
    assert ("apt-get install firejail" in found.mend) == (level != OK)


@pytest.mark.parametrize(
    ("says", "level", "text"),
    [
        (["cpython", [3, 11, 2], "/usr/bin/python3.11", "/usr/lib/python3.11/os.py"], OK, "CPython 3.11.2"),
        (["cpython", [3, 9, 2], "/usr/bin/python3.9", "/usr/lib/python3.9/os.py"], PROBLEM, "least is CPython 3.11"),
        (["pypy", [3, 11, 2], "/usr/bin/pypy3", "/usr/lib/pypy3/os.py"], PROBLEM, "is pypy 3.11.2"),
        (["cpython", [3, 12, 1], "/opt/bin/python3", "/opt/lib/python3.12/os.py"], PROBLEM, "needs /opt/bin/python3"),
        ("nonsense", PROBLEM, "runs no Python"),
    ],
)
def test_interpreters(says: object, level: Level, text: str, tmp_path: Path) -> None:
    said = says if isinstance(says, str) else json.dumps(says)
    found = preflight.interpreter(Settings(python=script(tmp_path / "python3", said)))
    assert found.level == level
    assert text in found.text


def test_an_extension_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "GUEST", tmp_path)
    assert "is not built" in preflight.extension(Settings()).text
    (tmp_path / "_box.abi3.so").write_bytes(b"not for this machine")
    assert "cannot load the C extension" in preflight.extension(Settings()).text


@pytest.mark.parametrize(
    ("name", "shell", "users", "text"),
    [
        ("ann", "/bin/sh", None, ""),
        ("ann", "/bin/sh", "bob\nann\n", ""),
        ("ann", "/bin/sh", "bob\n", "ann is not in"),
        ("ann", "/usr/sbin/nologin", None, "starts programs by the login shell"),
        ("nobody", "/bin/sh", None, "never serves nobody"),
        (None, "", None, "is not in /etc/passwd"),
    ],
)
def test_accounts(
    name: str | None, shell: str, users: str | None, text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lookup(uid: int) -> pwd.struct_passwd:
        if name is None:
            raise KeyError(uid)
        return pwd.struct_passwd((name, "x", uid, uid, "", "/", shell))

    if users is not None:
        (tmp_path / "users").write_text(users)
    monkeypatch.setattr(preflight, "FIREJAIL_USERS", tmp_path / "users")
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    monkeypatch.setattr(pwd, "getpwuid", lookup)
    found = preflight.account(Settings())
    assert found.level == (PROBLEM if text else OK)
    assert text in found.text


def test_what_is_required_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        preflight.require(Settings(isolation_program=str(tmp_path / "none")))
    assert "\n" not in str(refused.value)
    assert "; to mend it: apt-get install firejail" in str(refused.value)


# --- the machine


def test_every_check_finds_something_here() -> None:
    for check in machine.CHECKS:
        found = check(Settings())
        assert found.text, found
        assert bool(found.mend) == (found.level != OK), found


def test_a_cache_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "present", lambda: [find("cpp")])
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = machine.compile_cache(Settings(cache_folder="/nowhere/cache"))
    assert (found.level, found.mend) == (WARNING, "set SANDBOX_CACHE_FOLDER to a folder of this user")
    assert "/nowhere/cache cannot be written to" in found.text


def test_capabilities_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "missing_capabilities", lambda _: ["SYS_ADMIN", "MKNOD"])
    found = machine.capabilities(Settings())
    assert found.level == PROBLEM
    assert "docker run --cap-add SYS_ADMIN --cap-add MKNOD" in found.mend


def test_user_namespaces_that_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "KERNEL_SETTINGS", tmp_path)
    for folder in ("user", "kernel"):
        (tmp_path / folder).mkdir()
    (tmp_path / "user/max_user_namespaces").write_text("100\n")
    (tmp_path / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert machine.user_namespaces(Settings()).level == OK
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    found = machine.user_namespaces(Settings())
    assert found.level == PROBLEM
    assert "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" in found.mend


@pytest.mark.parametrize(
    ("constant", "check", "good", "bad"),
    [
        ("HUGE_PAGES", machine.huge_pages, "always [madvise] never", "always madvise [never]"),
        ("SCHEDSTAT", machine.schedstat, "123 45 6\n", ""),
    ],
)
def test_what_the_kernel_says(
    constant: str, check: Check, good: str, bad: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, constant, tmp_path / "file")
    assert check(Settings()).level == WARNING, "the file is not there"
    for text, level in {good: OK, bad: WARNING}.items():
        (tmp_path / "file").write_text(text)
        assert check(Settings()).level == level


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_service.sandbox.memory.of_machine", lambda: 3 << 30)
    found = machine.memory(Settings(slots=4))
    assert found.level == WARNING
    assert "of each of 4 slots, of which one may take 1,024 MiB by default: 2 of these" in found.text


def test_low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for limits, level in {(1024, 4096): WARNING, (256, 256): WARNING, (65536, 65536): OK, (-1, -1): OK}.items():
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        assert machine.open_files(Settings()).level == level
        assert machine.processes(Settings()).level == (WARNING if limits == (256, 256) else OK)


def test_hard_limits_that_boxes_could_not_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    for hard, level in {256: PROBLEM, 1 << 20: PROBLEM, 1 << 40: OK, resource.RLIM_INFINITY: OK}.items():
        monkeypatch.setattr(resource, "getrlimit", lambda _, hard=hard: (64, hard))
        found = preflight.hard_limits(Settings())
        assert found.level == level, (hard, found)
        assert bool(found.mend) == (level == PROBLEM)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = machine.port(Settings(port=taken.getsockname()[1]))
    assert found.level == WARNING
    assert "ss -ltnp" in found.mend
    assert machine.port(Settings(port=8498)).level == OK


# --- the proof


def test_attacks_do_not_know_the_answer() -> None:
    known = proof.known_attacks()
    assert 8 <= len(known) == len({attack.name for attack in known})
    assert {attack.test for attack in known} == set(proof.RIGHT)
    for attack in known:
        ast.parse(attack.code)
        assert attack.test == "stdin" or "def solve" in attack.code or "os._exit" in attack.code, attack.name


def test_attacks_come_to_their_end() -> None:
    """An attack that breaks down on the way proves nothing."""
    need_firejail()
    with bootstrap.grader(Settings(), 1) as grader:
        for attack in proof.known_attacks():
            grade = proof._grade(grader, attack.code, attack.test, "answer-0")
            stderr = "".join(test.stderr for test in grade.tests)
            assert grade.verdict in (Verdict.WA, Verdict.OLE) or attack.name == "leave with success", (
                attack.name,
                grade,
            )
            assert "Traceback" not in stderr or grade.verdict == Verdict.OLE, (attack.name, stderr)


def test_what_the_attempts_come_to() -> None:
    held, fault = (
        Attempt("a", paid=False, escaped=False, fault=None),
        Attempt("b", paid=False, escaped=False, fault="died"),
    )
    paid, escaped = (
        Attempt("c", paid=True, escaped=False, fault=None),
        Attempt("d", paid=False, escaped=True, fault=None),
    )
    assert proof.judge([held, held]) == Finding("attacks", OK, "2 attacks tried, none paid, none escaped")
    assert proof.judge([held, paid, escaped]).text == "3 attacks tried, 1 (c) paid, 1 (d) escaped"
    assert proof.judge([held, paid]).level == proof.judge([escaped]).level == proof.judge([fault]).level == PROBLEM


@pytest.mark.parametrize(
    ("fault", "name", "mend"),
    [
        (
            JailUnsafeError("the sandbox did not block the canary: socket is 'done'"),
            "canary",
            "grade nothing on this machine",
        ),
        (JailDiedError("no jail started; to mend it: add salt"), "jail", "add salt"),
        (JailDiedError("no jail started"), "jail", "--debug --profile="),
    ],
)
def test_jails_that_fail(fault: SandboxError, name: str, mend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def failing(*_: object, **__: object) -> Iterator[Grader]:
        raise fault
        yield

    monkeypatch.setattr(bootstrap, "grader", failing)
    (found,) = proof.prove(Settings())
    assert (found.name, found.level) == (name, PROBLEM)
    assert mend in found.mend
    assert "to mend it" not in found.text


def test_no_jail_is_started_without_the_essentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(proof, "prove", unreachable)
    *_, last = examination.examine(Settings(isolation_program=str(tmp_path / "none")))
    assert last == Finding("jail", PROBLEM, "not tried: mend the problems above first")


def unreachable(_: Settings) -> Iterator[Finding]:
    raise AssertionError("a jail was tried")


# --- the command


@pytest.mark.parametrize(
    ("levels", "status", "summary"),
    [
        ([OK, OK], 0, "all is well"),
        ([OK, WARNING], 1, "1 warning"),
        ([PROBLEM, WARNING, PROBLEM], 2, "2 problems, 1 warning"),
    ],
)
def test_exit_status(
    levels: list[Level], status: int, summary: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = [Finding("thing", level, "so [so]", "" if level == OK else "do [this]") for level in levels]
    monkeypatch.setattr(examination, "examine", lambda _: iter(findings))
    assert cli.main(["doctor"]) == status
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == summary
    assert lines[0].split() == [levels[0], "thing", "so", "[so]"]
    assert sum("mend: do [this]" in line for line in lines) == len(levels) - levels.count(OK)


def test_this_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    need_firejail()
    monkeypatch.setenv("SANDBOX_PORT", "8497")
    status = cli.main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status == {"ok": 0, "warning": 1, "problem": 2}[found["status"]]
    by_name = {finding["name"]: finding for finding in found["findings"]}
    count = len(proof.known_attacks())
    assert by_name["attacks"]["text"] == f"{count} attacks tried, none paid, none escaped", found
    assert by_name["canary"]["level"] == by_name["jail"]["level"] == "ok"
    checks: list[Callable[..., object]] = [*preflight.essential(Settings()), *machine.CHECKS]
    assert len(found["findings"]) == len(checks) + 6, (
        "and a jail, its canary, the attacks, numpy, mathematics, languages"
    )
