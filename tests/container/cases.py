"""Does the jail hold in a real container, and does the service refuse to grade where it does not?

    sudo .venv/bin/python -m tests.container.cases [CASE…]    a minute or two; the first time some more, for images

The service's image is built (see images.py) and started in containers that lack now this and now that. For each case
there is a line: whether /readyz was 200 or 503, the reason it gave, and what became of a right program. Where the
service is ready, some of the attacks of tests/attacks are tried as well. The exit status is 0 if every case came out
as expected. Ports 8300 to 8399 of the machine are used, one at a time.

Not shown: AppArmor and SELinux, unless the machine's kernel has them and podman uses them; Docker itself (its filter's
one difference that matters, no pivot_root, is imitated); rootless podman; cgroup limits; other architectures.

A service that is ready must accept a right program and pay no attack. One that is not must say 503 and why, and must
answer a grading request with 503 too, soon: not a verdict, and not silence.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import corpus
from tests.container import images
from tests.http import Client

RUN = ("run", "--detach", "--network", "host", "--env", "SANDBOX_HOST=127.0.0.1", "--env", "SANDBOX_SLOTS=1")
FIRST_PORT, LAST_PORT = 8300, 8399
START_SECONDS = 60.0
ANSWER_SECONDS = 5.0

OWN_FILTER = ("--security-opt", f"seccomp={images.REPOSITORY / 'deploy' / 'seccomp' / 'proctor.json'}")
DEFAULT_FILTER = Path("/usr/share/containers/seccomp.json")
NEEDED = ("SYS_ADMIN", "NET_ADMIN", "MKNOD", "CHOWN", "SETUID", "SETGID", "SETPCAP", "KILL")
DOCUMENTED = ("--cap-add", "SYS_ADMIN,NET_ADMIN,MKNOD")

RIGHT = {"code": "print(int(input()) * 2)", "tests": [{"type": "stdin", "input": "21\n", "output": "42\n"}]}
ATTACKS = """
escaping/mount_filesystems escaping/new_mount_interface escaping/chroot_and_back escaping/pivot_root
escaping/set_namespaces escaping/unshare_namespaces escaping/make_device_nodes escaping/core_pattern
escaping/kernel_settings escaping/capabilities escaping/become_root escaping/connect_outwards
reading/mounts reading/left_overs reading/environment_secrets reading/inherited_descriptors reading/secrets_on_disk
harming/kill_everyone harming/kill_parent harming/write_others_memory harming/write_system_files
exhausting/fork_bomb exhausting/thread_flood outliving/setsid_and_double_fork forging/os_exit_zero
"""

# programs that stand in for firejail: each leaves out something of the jail, and says nothing of it
STAND_INS = {
    "forgets-container": 'unset container\nexec /usr/bin/firejail "$@"',
    "only-executes": 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"',
    "no-profile": 'shift 2\nexec /usr/bin/firejail --quiet --noprofile "$@"',
    "keeps-network": 'exec /usr/bin/firejail --ignore="net none" "$@"',
    "keeps-system-calls": 'exec /usr/bin/firejail --ignore=seccomp.drop "$@"',
    "keeps-processes": 'while [ "$1" != -- ]; do shift; done\nshift\nexec unshare --net --ipc --mount -- "$@"',
    "is-false": "exit 1",
}


@dataclass(frozen=True)
class Case:
    """What the container is given, and a pattern that the reasons must match; none: it must be ready."""

    name: str
    options: tuple[str, ...]
    reason: str = ""
    attacked: bool = False


@dataclass(frozen=True)
class Seen:
    """What came of a case."""

    readyz: str
    reasons: str
    grade: str
    held: bool


def cases(folder: Path) -> list[Case]:
    """All of them. `folder` is where their files may be written."""
    weak = [Case(f"without {name}", only(*(set(NEEDED) - {name})), f"lacks {name} ") for name in NEEDED]
    no_pivot = ("--security-opt", f"seccomp={filter_without(folder, 'pivot_root')}")
    no_unshare = ("--security-opt", f"seccomp={filter_without(folder, 'unshare')}")
    stood_in = [
        Case(f"firejail {name}", (*DOCUMENTED, "--env", f"SANDBOX_ISOLATION_PROGRAM=/check/{name}"), pattern)
        for name, pattern in (
            ("forgets-container", "did not jail.*pid namespace.*container=docker"),
            ("only-executes", "did not jail.*pid namespace"),
            ("no-profile", "did not jail|no jail started"),
            ("keeps-network", "did not jail.*net namespace"),
            ("keeps-system-calls", "did not jail.*system call filter"),
            ("keeps-processes", "did not jail.*pid namespace"),
            ("is-false", "no jail started"),
        )
    ]
    return [
        Case("documented capabilities", DOCUMENTED, attacked=True),
        Case("only the needed ones", only(*NEEDED), attacked=True),
        Case("own seccomp profile", (*only(*NEEDED, "SYS_CHROOT"), *OWN_FILTER, "--read-only"), attacked=True),
        *weak,
        Case("podman's default", (), "lacks SYS_ADMIN"),
        Case("no capability", ("--cap-drop", "ALL"), "lacks SYS_ADMIN"),
        *stood_in,
        Case("filter without pivot_root", (*DOCUMENTED, *no_pivot), attacked=True),
        Case("the same without chroot", (*DOCUMENTED, "--cap-drop", "SYS_CHROOT", *no_pivot), "SYS_CHROOT"),
        Case("filter without unshare", (*DOCUMENTED, *no_unshare), "seccomp profile refuses new namespaces"),
        Case("no-new-privileges", (*DOCUMENTED, "--security-opt", "no-new-privileges")),
        Case("read-only root", (*DOCUMENTED, "--read-only")),
        Case("normal user, SUID firejail", (*DOCUMENTED, "--user", "1000:1000"), attacked=True),
        Case("normal user, no SYS_ADMIN", ("--cap-add", "NET_ADMIN,MKNOD", "--user", "1000:1000"), "lacks SYS_ADMIN"),
        Case(
            "normal user, no unshare",
            (*DOCUMENTED, "--user", "1000:1000", *no_unshare),
            "normal users may not make user",
        ),
        Case("uids mapped", (*DOCUMENTED, "--uidmap", "0:100000:65536"), "mapped uids"),
        Case("privileged", ("--privileged",)),
    ]


def only(*capabilities: str) -> tuple[str, ...]:
    """These and no others."""
    return ("--cap-drop", "ALL", "--cap-add", ",".join(sorted(capabilities)))


def filter_without(folder: Path, call: str) -> Path:
    """Podman's default filter, less this call; refused as Docker's does, with EPERM."""
    profile = json.loads(DEFAULT_FILTER.read_text()) | {"defaultErrno": "EPERM", "defaultErrnoRet": 1}
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name != call]
    path = folder / f"without-{call}.json"
    path.write_text(json.dumps(profile))
    return path


def write_stand_ins(folder: Path) -> None:
    """The programs that are not quite firejail."""
    for name, text in STAND_INS.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)


@contextmanager
def container(case: Case, folder: Path, port: int) -> Iterator[str]:
    """A container in which the service starts; its name."""
    name = f"proctor-check-{port}"
    volume = ("--volume", f"{folder}:/check:ro")
    command = ("serve", "--port", str(port))
    remove(name)
    subprocess.run(
        ["podman", *RUN, "--name", name, *volume, *case.options, images.SERVICE, *command],
        capture_output=True,
        check=True,
    )
    try:
        yield name
    finally:
        remove(name)


def remove(name: str) -> None:
    """End the container, if there is one. Podman sometimes fails at the first attempt and says nothing of use."""
    command = ["podman", "rm", "--force", "--ignore", "--time", "2", name]
    for _ in range(3):
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(1)
    raise SystemExit(f"podman does not remove {name}")


def wait(client: Client, name: str) -> tuple[int, list[str]]:
    """The status of /readyz and its reasons, as soon as the service knows; status 0 if it has ended."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        time.sleep(0.2)
        try:
            status, answer = client.get("/readyz")
        except OSError:
            if not running(name):
                return 0, [log(name)]
            continue
        if not any(reason.endswith(": starting") for reason in answer["reasons"]):
            return status, answer["reasons"]
    return -1, ["no answer"]


def running(name: str) -> bool:
    """Whether the container lives."""
    shown = subprocess.run(
        ["podman", "inspect", "--format", "{{.State.Running}}", name], capture_output=True, text=True, check=True
    )
    return shown.stdout.strip() == "true"


def log(name: str) -> str:
    """The last line that the container wrote."""
    shown = subprocess.run(["podman", "logs", name], capture_output=True, text=True, check=True)
    return (shown.stdout + shown.stderr).strip().rpartition("\n")[2]


def try_case(case: Case, client: Client, name: str) -> Seen:
    """Look at one running container."""
    status, reasons = wait(client, name)
    text = "; ".join(reasons)
    if status <= 0:
        return Seen("ended", text, "none", bool(case.reason) and bool(re.search(case.reason, text)))
    began = time.monotonic()
    code, answer = client.post("/v1/grade", RIGHT)
    soon = time.monotonic() - began < ANSWER_SECONDS
    if case.reason:
        held = status == 503 and bool(re.search(case.reason, text)) and code == 503 and soon
        return Seen(str(status), text, f"{code} {answer.get('verdict') or answer['error']['type']}", held)
    grade = f"{answer.get('verdict', code)}"
    held = status == 200 and grade == "AC"
    if held and case.attacked:
        paid, tried = attack(client)
        held = not paid and client.post("/v1/grade", RIGHT)[1].get("verdict") == "AC"
        grade += f"; {tried} attacks, paid: {', '.join(paid) or 'none'}"
    return Seen(str(status), text, grade, held)


def attack(client: Client) -> tuple[list[str], int]:
    """Which of the chosen attacks were paid or got out, and how many were tried."""
    chosen = [attack for attack in corpus.attacks() if f"{attack.group}/{attack.name}" in ATTACKS.split()]
    assert len(chosen) >= len(ATTACKS.split()), "an attack has been renamed"
    return [attack.id for attack in chosen if not unpaid(attack, client)], len(chosen)


def unpaid(attack: corpus.Attack, client: Client) -> bool:
    """Whether this attack failed as it must."""
    status, answer = client.post("/v1/grade", attack.body())
    return status == 200 and answer["verdict"] in attack.expect and corpus.ESCAPED not in json.dumps(answer)


def line(case: Case, seen: Seen) -> str:
    """One case, as a row of the table and its reasons below."""
    expected = "503" if case.reason else "200 AC"
    mark = "ok" if seen.held else "WRONG"
    row = f"{mark:<6}{case.name:<28}| {expected:<7}| {seen.readyz:<6}| {seen.grade}"
    return "\n".join([row, *textwrap.wrap(seen.reasons, 116, initial_indent=" " * 8, subsequent_indent=" " * 8)])


def main(*wanted: str) -> int:
    """Try all cases, or those whose name has one of `wanted` in it; the exit status."""
    wrong = 0
    images.build_service()
    print(f"{'':<6}{'case':<28}| {'expect':<7}| {'readyz':<6}| grade of a right program", flush=True)
    with tempfile.TemporaryDirectory(prefix="proctor-check-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        write_stand_ins(folder)
        chosen: list[Any] = [case for case in cases(folder) if not wanted or any(word in case.name for word in wanted)]
        for number, case in enumerate(chosen):
            port = FIRST_PORT + number % (LAST_PORT - FIRST_PORT)
            with container(case, folder, port) as running_one:
                seen = try_case(case, Client(f"http://127.0.0.1:{port}"), running_one)
            wrong += not seen.held
            print(line(case, seen), flush=True)
    print(f"{len(chosen)} cases, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    with images.podman():
        sys.exit(main(*sys.argv[1:]))
