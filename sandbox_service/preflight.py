"""What must be true of a machine before any jail can stand on it: asked by `serve`, `grade` and `doctor` alike.

Each check looks at one thing and says what it found, and which command mends it. None of them proves that a jail
holds: that is the canary's business, and the doctor's attacks'.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import pwd
import re
import socket
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox_service.errors import ConfigurationError
from sandbox_service.jails.ourselves import process_status
from sandbox_service.settings import Settings

LEAST_KERNEL = (5, 9)  # close_range; clone gives a pidfd since 5.2
LEAST_PYTHON = (3, 11)
TRIED_FIREJAIL = (0, 9, 72)
NO_SHELLS = ("nologin", "false", "")
FIREJAIL_USERS = Path("/etc/firejail/firejail.users")
PROBE_SECONDS = 20
GUEST = Path(__file__).resolve().parent / "guest"

DESCRIBE = (
    "import json, os, sys;"
    "print(json.dumps([sys.implementation.name, sys.version_info[:3], os.path.realpath(sys.executable), os.__file__]))"
)
LOAD_EXTENSION = "import sys; sys.path.insert(0, sys.argv[1]); import _box"


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"  # it will work, but slower, or with less room
    PROBLEM = "problem"  # it will not work, or not safely


@dataclass(frozen=True)
class Finding:
    """What a check found: a few words, and the command that mends it if something is wrong."""

    name: str
    level: Level
    text: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.text}; to mend it: {self.mend}" if self.mend else self.text


Check = Callable[[Settings], Finding]


def require(settings: Settings) -> None:
    """Raises ConfigurationError with the first thing that is in the way of every jail, and how to mend it."""
    for check in ESSENTIAL:
        finding = check(settings)
        if finding.level == Level.PROBLEM:
            raise ConfigurationError(str(finding))


def system(_: Settings) -> Finding:
    """Linux, and new enough."""
    name, release = platform.system(), platform.release()
    if name != "Linux":
        text = f"this is {name}, and jails are made of Linux namespaces"
        return Finding("system", Level.PROBLEM, text, "run it on Linux, or in a Linux container or virtual machine")
    if _version(release) < LEAST_KERNEL:
        text = f"Linux {release} is too old: the least is {_dotted(LEAST_KERNEL)}"
        return Finding("system", Level.PROBLEM, text, "boot a newer kernel")
    return Finding("system", Level.OK, f"Linux {release}")


def firejail(settings: Settings) -> Finding:
    """The firejail program is there, and none of the old ones, whose holes are known."""
    program, install = settings.firejail, "apt-get install firejail"
    if not os.access(program, os.X_OK):
        mend = f"{install} (or set SANDBOX_FIREJAIL to where it is)"
        return Finding("firejail", Level.PROBLEM, f"firejail is not at {program}", mend)
    said = re.search(r"firejail version ([\d.]+)", _ask(program, "--version").stdout)
    if said is None:
        return Finding("firejail", Level.WARNING, f"{program} --version does not name firejail and a version", install)
    if _version(said[1]) < TRIED_FIREJAIL:
        text = f"{program} is {said[1]}; {_dotted(TRIED_FIREJAIL)} is the oldest that was tried"
        return Finding("firejail", Level.WARNING, text, f"{install} on Debian 12, Ubuntu 24.04 or newer")
    return Finding("firejail", Level.OK, f"{program}: {said[1]}")


def privilege(settings: Settings) -> Finding:
    """What gives firejail root's rights: because we are root, or by its SUID bit."""
    if os.geteuid() == 0:
        return Finding("privilege", Level.OK, "root: every slot gets a uid of its own")
    if not _is_suid_root(settings.firejail):
        text = f"not root, and {settings.firejail} is not SUID root"
        mend = f"chown root {settings.firejail} && chmod u+s {settings.firejail} (or run as root)"
        return Finding("privilege", Level.PROBLEM, text, mend)
    if os.statvfs(settings.firejail).f_flag & os.ST_NOSUID:
        text = f"not root, and {settings.firejail} is on a file system mounted nosuid"
        return Finding("privilege", Level.PROBLEM, text, "run as root, or mount it without nosuid")
    if process_status().get("NoNewPrivs") == "1":
        text = "not root, and this process may not gain privileges, so firejail's SUID bit has no effect"
        mend = "run as root, or without docker's --security-opt no-new-privileges and systemd's NoNewPrivileges="
        return Finding("privilege", Level.PROBLEM, text, mend)
    return Finding(
        "privilege", Level.OK, "not root; firejail is SUID root: all slots share our uid, in user namespaces"
    )


def account(_: Settings) -> Finding:
    """Whom firejail serves: it looks the user up, and starts programs by the user's login shell."""
    uid = os.geteuid()
    if uid == 0:
        return Finding("account", Level.OK, "root")
    try:
        user = pwd.getpwuid(uid)
    except KeyError:
        text = f"uid {uid} is not in /etc/passwd, and firejail wants to know who starts it"
        return Finding("account", Level.PROBLEM, text, f"useradd --uid {uid} --shell /bin/sh proctor (or run as root)")
    if user.pw_name == "nobody":
        return Finding("account", Level.PROBLEM, "firejail never serves nobody", "run as another user, or as root")
    if Path(user.pw_shell).name in NO_SHELLS:
        text = f"firejail starts programs by the login shell, and {user.pw_name}'s is {user.pw_shell}"
        return Finding("account", Level.PROBLEM, text, f"usermod --shell /bin/sh {user.pw_name} (or run as root)")
    if FIREJAIL_USERS.exists() and user.pw_name not in FIREJAIL_USERS.read_text().split():
        text = f"{user.pw_name} is not in {FIREJAIL_USERS}, so firejail refuses"
        return Finding("account", Level.PROBLEM, text, f"echo {user.pw_name} >> {FIREJAIL_USERS} (or run as root)")
    return Finding("account", Level.OK, user.pw_name)


def libseccomp(_: Settings) -> Finding:
    """The library that makes the boxes' system call filter."""
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return Finding("libseccomp", Level.PROBLEM, "libseccomp is missing", "apt-get install libseccomp2")
    return Finding("libseccomp", Level.OK, "libseccomp.so.2")


def interpreter(settings: Settings) -> Finding:
    """What runs submissions: CPython, new enough, and where a jail can see it."""
    mend = "apt-get install python3 (or set SANDBOX_PYTHON to a CPython >= 3.11 below /usr)"
    if not os.access(settings.python, os.X_OK):
        return Finding(
            "interpreter", Level.PROBLEM, f"there is no interpreter for submissions at {settings.python}", mend
        )
    found = _ask(settings.python, "-S", "-c", DESCRIBE)
    try:
        name, version, program, library = json.loads(found.stdout)
    except ValueError:
        return Finding(
            "interpreter", Level.PROBLEM, f"{settings.python} runs no Python: {_last_line(found.stderr)}", mend
        )
    if name != "cpython" or tuple(version) < LEAST_PYTHON:
        text = f"{settings.python} is {name} {_dotted(version)}: the least is CPython {_dotted(LEAST_PYTHON)}"
        return Finding("interpreter", Level.PROBLEM, text, mend)
    outside = [path for path in (program, library) if not path.startswith("/usr/")]
    if outside:
        text = f"{settings.python} needs {outside[0]}, which is not below /usr, so jails do not see it"
        return Finding("interpreter", Level.PROBLEM, text, mend)
    return Finding("interpreter", Level.OK, f"{settings.python}: CPython {_dotted(version)}")


def extension(settings: Settings) -> Finding:
    """The C extension is built, and the submissions' interpreter can load it."""
    mend = "pip install -e . in the repository (needs gcc and python3-dev), or install a wheel for this machine"
    if not list(GUEST.glob("_box*.so")):
        return Finding("extension", Level.PROBLEM, "the C extension that makes boxes is not built", mend)
    found = _ask(settings.python, "-P", "-S", "-B", "-c", LOAD_EXTENSION, str(GUEST))
    if found.returncode:
        text = f"{settings.python} cannot load the C extension: {_last_line(found.stderr)}"
        return Finding("extension", Level.PROBLEM, text, mend)
    return Finding("extension", Level.OK, "the C extension is built and loads")


ESSENTIAL: tuple[Check, ...] = (system, firejail, privilege, account, libseccomp, interpreter, extension)


def listen(settings: Settings) -> socket.socket:
    """A socket bound to the address to serve on. Raises ConfigurationError saying why it cannot be had."""
    where = f"{settings.host} port {settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigurationError(f"cannot listen on {where}: {error.strerror}; choose another --host") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # only now is a port in use refused for certain
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"cannot listen on {where}: {_refusal(error, settings.port)}") from None
    return listener


def _refusal(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"it is in use; choose another --port, or see who has it: ss -ltnp 'sport = :{port}'"
    if error.errno == errno.EACCES:
        return "ports below 1024 are for root; choose another --port"
    return f"{error.strerror}; choose another --host"


def _is_suid_root(program: str) -> bool:
    try:
        found = Path(program).stat()
    except OSError:
        return False
    return found.st_uid == 0 and bool(found.st_mode & stat.S_ISUID)


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program for what it says; one that cannot be run says why."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, cwd="/", env={}, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess([*command], 1, "", str(error))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _dotted(version: tuple[int, ...] | list[int]) -> str:
    return ".".join(map(str, version))
