"""No jail, no service: stand-ins for firejail that leave something out, and what the service says and does then.

The same and more is shown inside a container by tests/container/cases.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox_service.errors import BoxSetupError, JailDiedError, JailUnsafeError
from sandbox_service.sandbox import diagnosis, jail
from sandbox_service.sandbox.firejail import Firejail
from tests.conftest import START_SECONDS, Service, need_firejail
from tests.markers import one_in
from tests.ports import free_port

RIGHT = {"code": "print(42)", "tests": [{"type": "stdin", "output": "42\n"}]}
GOOD_IDENTITY: dict[str, object] = {
    "namespaces": {"pid": "pid:[1]", "net": "net:[1]", "mnt": "mnt:[1]", "ipc": "ipc:[1]"},
    "interfaces": ["lo"],
    "seccomp": "2",
    "filters": "2",
    "no_new_privs": "1",
}
STAND_INS = {
    "only executes": ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "did not jail: it shares our pid"),
    "keeps the network": (
        'exec /usr/bin/firejail --ignore="net none" "$@"',
        "did not jail: it shares our net namespace",
    ),
    "keeps system calls": ('exec /usr/bin/firejail --ignore=seccomp.drop "$@"', "system call filter"),
    "complains and ends": ("echo Error: something is wrong >&2; exit 1", "Error: something is wrong"),
    "hides nothing": ('exec /usr/bin/firejail --quiet --noprofile -- sh -c "exit 0"', "no jail started"),
}


AT_ONCE_SECONDS = 20.0  # on a busy machine; what waits for a slot waits for much longer


@contextmanager
def refusing_service(stand_in: Path) -> Iterator[Service]:
    """A service that has this for firejail, as soon as it knows that it cannot grade."""
    need_firejail()
    port = free_port()
    environment = os.environ | {"SANDBOX_ISOLATION_PROGRAM": str(stand_in), "SANDBOX_SLOTS": "1"}
    command = [sys.executable, "-m", "sandbox_service.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment)
    service = Service(process, port)
    try:
        wait_until_known(service)
        yield service
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_until_known(service: Service) -> None:
    """Until it says something else than that it is starting."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            if service.client.get("/readyz")[1]["reasons"] != ["slot 0: starting"]:
                return
        except OSError:
            pass
        time.sleep(0.05)


@pytest.mark.parametrize("name", one_in(2, STAND_INS))
def test_nothing_is_graded_without_a_jail(name: str, tmp_path: Path) -> None:
    script, reason = STAND_INS[name]
    stand_in = tmp_path / "firejail"
    stand_in.write_text(f"#!/bin/sh\n{script}\n")
    stand_in.chmod(0o755)
    with refusing_service(stand_in) as service:
        status, answer = service.client.get("/readyz")
        assert (status, answer["ready"]) == (503, False)
        assert reason in answer["reasons"][0]
        for path, body in (("/v1/grade", RIGHT), ("/v1/grade/batch", {"submissions": [RIGHT]})):
            began = time.monotonic()
            status, answer = service.client.post(path, body)
            assert (status, answer["error"]["type"]) == (503, "unavailable")
            assert reason in answer["error"]["message"]
            assert time.monotonic() - began < AT_ONCE_SECONDS


def test_a_good_identity_is_believed() -> None:
    jail.verify(GOOD_IDENTITY, "firejail")


@pytest.mark.parametrize(
    ("difference", "reason"),
    [
        ({"namespaces": {"pid": str(Path("/proc/self/ns/pid").readlink())}}, "it shares our pid namespace"),
        ({"interfaces": ["lo", "eth0"]}, "it sees network interfaces"),
        ({"seccomp": "0"}, "firejail installed no system call filter"),
        ({"filters": "1"}, "firejail installed no system call filter"),
        ({"no_new_privs": "0"}, "it may gain privileges"),
    ],
)
def test_every_difference_is_named(difference: dict[str, object], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "filters", lambda: 1)  # as in a container, which brings a filter of its own
    with pytest.raises(JailUnsafeError, match=reason):
        jail.verify(GOOD_IDENTITY | difference, "firejail")


def test_missing_capabilities_come_first() -> None:
    said = "no jail started (the zygote ended): Error clone: main.c:3094 main: Operation not permitted"
    assert "--cap-add SYS_ADMIN --cap-add KILL" in diagnosis.advice(said, ["SYS_ADMIN", "KILL"])


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ("Error clone: main.c:3094 main: Operation not permitted", "seccomp"),
        ("rootfs.py, in build | _box.enter_root(ROOT) | PermissionError: [Errno 1]", "SYS_CHROOT"),
        ("in _own_user_namespace | _box.unshare(CLONE_NEWUSER | CLONE_NEWNS)", "normal users"),
        ("firejail did not jail: it shares our pid namespace", "container=docker"),
        ("PermissionError: [Errno 13] Permission denied", "apparmor=unconfined"),
        ("Error: cannot create /dev/zero device: Operation not permitted", "mapped uids"),
        ("the zygote ended", ""),
    ],
)
def test_known_words_are_explained(said: str, mend: str) -> None:
    assert mend in diagnosis.advice(said, [])
    assert bool(diagnosis.advice(said, [])) == bool(mend)


@pytest.mark.parametrize("kind", [JailDiedError, JailUnsafeError, BoxSetupError])
def test_a_fault_keeps_its_kind(kind: type[JailDiedError], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "missing_capabilities", lambda _: ["KILL"])
    explained = diagnosis.explained(kind("it failed"), Firejail("firejail"))
    assert type(explained) is kind
    assert str(explained).startswith("it failed; to mend it: this process lacks KILL")
