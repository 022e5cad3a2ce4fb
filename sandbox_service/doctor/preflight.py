"""Checks the needs of a sandbox before its start on this machine, for `serve`, `grade` and `doctor`.

Each check examines one thing and reports what it found, and which command corrects it. No check proves that a sandbox
isolates: the canary and the doctor's attacks do. Checks of an isolation tool run only if the tool is configured.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import json
import os
import platform
import pwd
import re
import resource
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox_service.errors import ConfigurationError
from sandbox_service.languages import LANGUAGES
from sandbox_service.sandbox import memory, tools
from sandbox_service.sandbox.base import IsolationTool
from sandbox_service.sandbox.host import process_status
from sandbox_service.settings import Settings

LEAST_KERNEL = (5, 9)  # close_range; clone gives a pidfd since 5.2
LEAST_PYTHON = (3, 11)
LEAST_MEMORY_BYTES = 64 << 20  # the smallest limits.memory_bytes
LEAST_FILES, LEAST_TASKS = 1024, 512  # that sandboxes and boxes limit themselves to
NO_SHELLS = ("nologin", "false", "")
FIREJAIL_USERS = Path("/etc/firejail/firejail.users")
PROBE_SECONDS = 20
GUEST = Path(__file__).resolve().parent.parent / "guest"

DESCRIBE = (
    "import json, os, sys;"
    "print(json.dumps([sys.implementation.name, sys.version_info[:3], os.path.realpath(sys.executable), os.__file__]))"
)
HOST_EXTENSION = "sandbox_service.sandbox._host"
LOAD_EXTENSION = "import sys; sys.path.insert(0, sys.argv[1]); import _box"


def tool_of(settings: Settings) -> IsolationTool:
    """Return the isolation tool that the settings name. Raises ConfigurationError if there is none of that name."""
    return tools.make(settings.isolation, settings.isolation_program)


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"  # the service works, but slower, or with less room
    PROBLEM = "problem"  # the service does not work, or not safely


@dataclass(frozen=True)
class Finding:
    """The result of a check, with the command that corrects it if something is wrong."""

    name: str
    level: Level
    text: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.text}; to mend it: {self.mend}" if self.mend else self.text


Check = Callable[[Settings], Finding]


def require(settings: Settings) -> None:
    """Run the essential checks.

    Raises:
        ConfigurationError: the first problem, and the command that corrects it.
    """
    for check in essential(settings):
        finding = check(settings)
        if finding.level == Level.PROBLEM:
            raise ConfigurationError(str(finding))


def system(_: Settings) -> Finding:
    """Check that this is Linux, and new enough."""
    name, release = platform.system(), platform.release()
    if name != "Linux":
        text = f"this is {name}, and sandboxes need Linux namespaces"
        return Finding("system", Level.PROBLEM, text, "run it on Linux, or in a Linux container or virtual machine")
    if _version(release) < LEAST_KERNEL:
        text = f"Linux {release} is too old: the least is {_dotted(LEAST_KERNEL)}"
        return Finding("system", Level.PROBLEM, text, "boot a newer kernel")
    if not Path("/proc/self/status").exists():
        return Finding("system", Level.PROBLEM, "there is no /proc", "mount -t proc proc /proc")
    return Finding("system", Level.OK, f"Linux {release}")


def isolation_tool(settings: Settings) -> Finding:
    """Check that the configured isolation tool is installed, and not older than the tested version."""
    tool = tool_of(settings)
    name, install = tool.name, f"apt-get install {tool.name}"
    if not _is_program(tool.program):
        mend = f"{install} (or set SANDBOX_ISOLATION_PROGRAM to where it is)"
        return Finding(name, Level.PROBLEM, f"{name} is not at {tool.program}", mend)
    told = _ask(tool.program, "--version").stdout
    said = re.search(tool.version_pattern, told)
    if said is None:
        text = f"{tool.program} --version does not name {name} and a version"
        mend = f"{install}, and leave SANDBOX_ISOLATION_PROGRAM unset or set it to {name}"
        return Finding(name, Level.PROBLEM if told.strip() else Level.WARNING, text, mend)
    if _version(said[1]) < tool.oldest_tried:
        text = f"{tool.program} is {said[1]}; {_dotted(tool.oldest_tried)} is the oldest that was tried"
        return Finding(name, Level.WARNING, text, f"{install} on Debian 12, Ubuntu 24.04 or newer")
    return Finding(name, Level.OK, f"{tool.program}: {said[1]}")


def privilege(settings: Settings) -> Finding:
    """Check that a tool that needs root's rights has them: because this process is root, or by its SUID bit."""
    tool = tool_of(settings)
    if os.geteuid() == 0:
        return Finding("privilege", Level.OK, "root: every slot gets a uid of its own")
    if not tool.setuid:
        return Finding("privilege", Level.OK, "not root: all slots share this uid, in user namespaces")
    if not _is_suid_root(tool.program):
        text = f"not root, and {tool.program} is not SUID root"
        mend = f"chown root {tool.program} && chmod u+s {tool.program} (or run as root)"
        return Finding("privilege", Level.PROBLEM, text, mend)
    if os.statvfs(tool.program).f_flag & os.ST_NOSUID:
        text = f"not root, and {tool.program} is on a file system mounted nosuid"
        return Finding("privilege", Level.PROBLEM, text, "run as root, or mount it without nosuid")
    if process_status().get("NoNewPrivs") == "1":
        text = f"not root, and this process may not gain privileges, so the SUID bit of {tool.name} has no effect"
        mend = "run as root, or without docker's --security-opt no-new-privileges and systemd's NoNewPrivileges="
        return Finding("privilege", Level.PROBLEM, text, mend)
    return Finding(
        "privilege", Level.OK, f"not root; {tool.name} is SUID root: all slots share this uid, in user namespaces"
    )


def account(_: Settings) -> Finding:
    """Check that firejail serves this user: it looks the user up, and starts programs by the login shell."""
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


def hard_limits(settings: Settings) -> Finding:
    """Check that no hard limit of this process is lower than what boxes set for themselves: they could not raise it."""
    for kind, least, flag, name in (
        (resource.RLIMIT_NOFILE, LEAST_FILES, "-n", "LimitNOFILE"),
        (resource.RLIMIT_NPROC, LEAST_TASKS + settings.max_processes, "-u", "LimitNPROC"),
        (resource.RLIMIT_AS, settings.max_memory_bytes + (2 << 30), "-v", "LimitAS"),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY and hard < least:
            text = f"the hard limit of ulimit {flag} is {hard}, and boxes need {least}"
            return Finding("limits", Level.PROBLEM, text, f"raise it (docker: --ulimit; systemd: {name}=)")
    return Finding("limits", Level.OK, "no hard limit is lower than what boxes need")


def libseccomp(_: Settings) -> Finding:
    """Check for the library that compiles system call filters."""
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return Finding("libseccomp", Level.PROBLEM, "libseccomp is missing", "apt-get install libseccomp2")
    return Finding("libseccomp", Level.OK, "libseccomp.so.2")


def interpreter(settings: Settings) -> Finding:
    """Check that the interpreter for submissions is CPython, new enough, and below /usr, where sandboxes see it."""
    mend = "apt-get install python3 (or set SANDBOX_PYTHON to a CPython >= 3.11 below /usr)"
    if not _is_program(settings.python):
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
        text = f"{settings.python} needs {outside[0]}, which is not below /usr, so sandboxes do not see it"
        return Finding("interpreter", Level.PROBLEM, text, mend)
    return Finding("interpreter", Level.OK, f"{settings.python}: CPython {_dotted(version)}")


def extension(settings: Settings) -> Finding:
    """Check that the C extensions are built, and that the submissions' interpreter can load the one of the boxes."""
    mend = "pip install -e . in the repository (needs gcc and python3-dev), or install a wheel for this machine"
    if not list(GUEST.glob("_box*.so")):
        return Finding("extension", Level.PROBLEM, "the C extension that makes boxes is not built", mend)
    if importlib.util.find_spec(HOST_EXTENSION) is None:
        return Finding("extension", Level.PROBLEM, f"the C extension {HOST_EXTENSION} is not built", mend)
    found = _ask(settings.python, "-P", "-S", "-B", "-c", LOAD_EXTENSION, str(GUEST))
    if found.returncode:
        text = f"{settings.python} cannot load the C extension: {_last_line(found.stderr)}"
        return Finding("extension", Level.PROBLEM, text, mend)
    return Finding("extension", Level.OK, "the C extension is built and loads")


def essential(settings: Settings) -> tuple[Check, ...]:
    """Return the checks without which no sandbox starts, `system` first. Raises ConfigurationError."""
    of_firejail = (account,) if tool_of(settings).name == "firejail" else ()
    return (
        system,
        isolation_tool,
        privilege,
        *of_firejail,
        hard_limits,
        libseccomp,
        interpreter,
        extension,
        named_settings,
    )


def named_settings(settings: Settings) -> Finding:
    """Check that the files and names of the settings exist, and that the memory suffices for the slots."""
    for text, mend in (*_unusable_names(settings), *_too_little_memory(settings)):
        return Finding("settings", Level.PROBLEM, text, mend)
    return Finding("settings", Level.OK, "what the settings name is there")


def _unusable_names(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the faults of names of languages, libraries, folders and hosts, and the remedy of each."""
    known = {language.name for language in LANGUAGES}
    for name in settings.cpu_factor_of:
        if name not in known:
            text = f"SANDBOX_CPU_FACTORS names {name[:40]!r}, which is no language"
            yield text, f"name one of {', '.join(sorted(known))}"
    for name in settings.library_names:
        if not all(part.isidentifier() for part in name.replace("-", "_").split(".")):
            text = f"SANDBOX_LIBRARIES names {name[:80]!r}, which is not a library"
            yield text, "give names as in an import: numpy,sortedcontainers"
    if settings.judge_libraries and not Path(settings.judge_libraries).is_dir():
        text = f"SANDBOX_JUDGE_LIBRARIES: {settings.judge_libraries} is no folder"
        yield text, "name the folder that has testlib.h, or leave it out"
    folder = Path(settings.cache_folder)
    if settings.cache_folder and not next(path for path in (folder, *folder.parents) if path.exists()).is_dir():
        yield f"SANDBOX_CACHE_FOLDER: {folder} is no folder", "name a folder, which may be a new one, or leave it out"


def _too_little_memory(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield settings that exceed the machine's memory, or the memory for programs, and the remedy."""
    machine, least = memory.of_machine(), memory.SLOT_BYTES * settings.slot_count
    if least > machine:
        text = f"{settings.slot_count} slots need {least >> 20} MiB without any program, and there are {machine >> 20}"
        yield text, f"set SANDBOX_SLOTS to at most {machine // memory.SLOT_BYTES}"
    if 0 < settings.memory_bytes < LEAST_MEMORY_BYTES:
        text = f"SANDBOX_MEMORY_BYTES is {settings.memory_bytes}, and one program needs at least {LEAST_MEMORY_BYTES}"
        yield text, "give more, or leave it unset: it is for all programs together"


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the settings' address.

    Raises:
        ConfigurationError: it cannot listen there, with the reason.
    """
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


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)


def _is_suid_root(program: str) -> bool:
    try:
        found = Path(program).stat()
    except OSError:
        return False
    return found.st_uid == 0 and bool(found.st_mode & stat.S_ISUID)


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program; if it cannot be run, the reason stands in the result's stderr."""
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
