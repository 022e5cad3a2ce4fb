"""Checks of the machine beyond the essentials: speed, space, and settings that may prevent a sandbox.

Every check examines one thing. Whether a sandbox does start is shown by starting one; see proof.py.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import urllib.request
from pathlib import Path

import psutil

from sandbox_service.doctor import preflight
from sandbox_service.doctor.preflight import Check, Finding, Level, tool_of
from sandbox_service.errors import ConfigurationError
from sandbox_service.languages import judge_libraries as judge_headers
from sandbox_service.languages import machine_cache, shown_libraries, toolchains
from sandbox_service.sandbox import memory as machine_memory
from sandbox_service.sandbox.diagnosis import CAPABILITIES, missing_capabilities
from sandbox_service.schema import Limits
from sandbox_service.settings import MIB, Settings

TRIED_ARCHITECTURES = ("x86_64",)
CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
ENOUGH_SPACE = 64 * MIB
ENOUGH_FILES = 4096  # a descriptor for each connection, and some twenty for each slot
ENOUGH_PROCESSES = 1024
ANSWER_SECONDS = 2.0
USUAL_LIBRARIES = ("numpy", "sortedcontainers", "pytest")  # right programs, and data sets' tests, import them

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SCHEDSTAT = Path("/proc/self/schedstat")
CGROUPS = Path("/sys/fs/cgroup")
KERNEL_SETTINGS = Path("/proc/sys")
WITNESSES = Path("/var/tmp")  # noqa: S108
TEMPORARY = (Path("/dev/shm"), Path("/tmp"), WITNESSES)  # noqa: S108


def architecture(_: Settings) -> Finding:
    """Check that the C extension and the system call filter were tried on this architecture."""
    machine = platform.machine()
    if machine in TRIED_ARCHITECTURES:
        return Finding("architecture", Level.OK, machine)
    text = f"{machine}: tried on {', '.join(TRIED_ARCHITECTURES)} only"
    return Finding(
        "architecture", Level.WARNING, text, "rely on the canary and the attacks below, or run the test suite"
    )


def user_namespaces(_: Settings) -> Finding:
    """Check that a normal user may make user namespaces, in which boxes run without root."""
    name = "user namespaces"
    if os.geteuid() == 0:
        return Finding(name, Level.OK, "not needed by root")
    for setting, bad, mend in (
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ):
        if _read(KERNEL_SETTINGS / setting) == bad:
            return Finding(
                name,
                Level.PROBLEM,
                f"refused to this user: {setting.replace('/', '.')} is {bad}",
                f"run as root, or: {mend}",
            )
    return Finding(name, Level.OK, "allowed")


def capabilities(settings: Settings) -> Finding:
    """Check for the capabilities that the isolation tool needs; without root, those that its SUID bit can give."""
    tool = tool_of(settings)
    missing = missing_capabilities(tool)
    where = f"in a container ({found})" if (found := _container()) else "in no known container"
    if not missing:
        return Finding("capabilities", Level.OK, f"{where}; those that {tool.name} needs are there")
    lacking = ", ".join(f"{name} (for {CAPABILITIES[name][1]})" for name in missing)
    options = " ".join(f"--cap-add {name}" for name in missing)
    mend = f"docker run {options} … (Kubernetes: securityContext.capabilities.add; systemd: CapabilityBoundingSet=)"
    return Finding("capabilities", Level.PROBLEM, f"{where}; missing: {lacking}", mend)


def apparmor(_: Settings) -> Finding:
    """Check for an AppArmor profile, which may refuse the mounts of a sandbox."""
    profile = _read(Path("/proc/self/attr/current"))
    if not profile.endswith("(enforce)"):
        return Finding("AppArmor", Level.OK, "this process is not confined")
    text = f"this process is confined by {profile.removesuffix(' (enforce)')}, which may refuse mounts"
    return Finding(
        "AppArmor", Level.WARNING, text, "docker run --security-opt apparmor=unconfined …, if no jail starts"
    )


def huge_pages(_: Settings) -> Finding:
    """Check for huge pages: the interpreter's text on them saves a tenth of a test's time."""
    modes = _read(HUGE_PAGES)
    chosen = re.search(r"\[(\w+)\]", modes)
    if chosen and chosen[1] != "never":
        return Finding("huge pages", Level.OK, chosen[1])
    text = (
        "transparent huge pages are off: grading costs about a tenth more"
        if chosen
        else "this kernel has no huge pages: grading is slower"
    )
    return Finding("huge pages", Level.WARNING, text, f"echo madvise > {HUGE_PAGES}")


def schedstat(_: Settings) -> Finding:
    """Check that the kernel reports how long a box waited for a processor, to tell slow programs from busy machines."""
    if len(_read(SCHEDSTAT).split()) == 3:
        return Finding("schedstat", Level.OK, "waiting for a processor can be told from being slow")
    text = f"{SCHEDSTAT} cannot be read: on a busy machine, time-outs are repeated more often than needed"
    return Finding("schedstat", Level.WARNING, text, "boot a kernel with CONFIG_SCHED_INFO (gVisor has none)")


def memory(settings: Settings) -> Finding:
    """Check that every slot can run a program that uses its whole memory limit at the same time."""
    wanted, slots = Limits().memory_bytes, settings.slot_count
    free = min(psutil.virtual_memory().available, machine_memory.of_machine())
    there = settings.memory_bytes or machine_memory.for_programs(free, slots)
    text = f"{there / slots / MIB:,.0f} MiB for the programs of each of {slots} slots"
    if there >= slots * wanted:
        return Finding("memory", Level.OK, text)
    text += (
        f", of which one may take {wanted / MIB:,.0f} MiB by default: {max(1, there // wanted)} of these run at a time"
    )
    return Finding("memory", Level.WARNING, text, "give the machine more memory, or send a smaller limits.memory_bytes")


def space(_: Settings) -> Finding:
    """Check for free space in the folders for temporary files."""
    free = {folder: psutil.disk_usage(str(folder)).free for folder in TEMPORARY if folder.is_dir()}
    text = ", ".join(f"{folder} {size / MIB:,.0f} MiB" for folder, size in free.items()) + " free"
    short = [str(folder) for folder, size in free.items() if size < ENOUGH_SPACE]
    if not short:
        return Finding("space", Level.OK, text)
    return Finding(
        "space", Level.WARNING, text, f"remove files from {' and '.join(short)} (docker: --shm-size, --tmpfs)"
    )


def witness(_: Settings) -> Finding:
    """Check that the canary can write a file outside, which it must not see from a sandbox."""
    if os.access(WITNESSES, os.W_OK | os.X_OK):
        return Finding("witness", Level.OK, f"{WITNESSES} can be written to")
    text = f"{WITNESSES} cannot be written to, and the canary needs a file there"
    return Finding("witness", Level.PROBLEM, text, f"mkdir -p -m 1777 {WITNESSES} (docker: --tmpfs {WITNESSES})")


def compile_cache(settings: Settings) -> Finding:
    """Check that the folder of compiled programs can be written to, where a language is compiled."""
    name, folder = "compile cache", machine_cache.folder_of(settings.cache_folder)
    if not any(language.toolchain.compile for language in toolchains.present() if language.toolchain):
        return Finding(name, Level.OK, "no compiler is installed, so none is needed")
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(existing, os.W_OK | os.X_OK):
        return Finding(name, Level.OK, f"{folder} can be written to")
    text = f"{folder} cannot be written to: every slot compiles for itself, and C++ without a precompiled header"
    return Finding(name, Level.WARNING, text, "set SANDBOX_CACHE_FOLDER to a folder of this user")


def cgroups(_: Settings) -> Finding:
    """Report the version of cgroups. Nothing depends on them."""
    unified = (CGROUPS / "cgroup.controllers").exists()
    there = "version 2" if unified else "version 1" if CGROUPS.is_dir() and any(CGROUPS.iterdir()) else None
    if there is None:
        return Finding("cgroups", Level.OK, "none (not needed)")
    folder = CGROUPS if unified else next(path for path in sorted(CGROUPS.iterdir()) if path.is_dir())
    can = "can" if os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_RDONLY else "cannot"
    return Finding("cgroups", Level.OK, f"{there}, {can} be written to (not needed)")


def open_files(_: Settings) -> Finding:
    """Check the limit of open files: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _at_least(soft, ENOUGH_FILES):
        return Finding("open files", Level.OK, f"{_shown(soft)} allowed")
    most = ENOUGH_FILES if _at_least(hard, ENOUGH_FILES) else hard
    mend = f"ulimit -n {most} (docker: --ulimit nofile=65536; systemd: LimitNOFILE=)"
    return Finding(
        "open files", Level.WARNING, f"{_shown(soft)} allowed: the number of connections is a little less", mend
    )


def processes(_: Settings) -> Finding:
    """Check the limit of processes: slots, sandboxes and boxes are processes."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if _at_least(soft, ENOUGH_PROCESSES):
        return Finding("processes", Level.OK, f"{_shown(soft)} allowed")
    mend = f"ulimit -u {ENOUGH_PROCESSES} (docker: --ulimit nproc=65536; systemd: LimitNPROC=)"
    return Finding("processes", Level.WARNING, f"{_shown(soft)} allowed for this user", mend)


def libraries(settings: Settings) -> Finding:
    """Report the libraries that submissions and test programs may import; warn of usual and named ones that lack."""
    found = shown_libraries.found(settings.python, (*settings.library_names, *shown_libraries.FOR_TESTS))
    there = {package.name: package.version for package in found}
    text = ", ".join(f"{name} {version}" for name, version in there.items()) or "none"
    lacking = [
        name
        for name in (*settings.library_names, *shown_libraries.FOR_TESTS)
        if shown_libraries.normal(name) not in there
    ]
    if lacking:
        text += f"; not installed: {', '.join(lacking)}"
    default = Settings.model_fields["libraries"].default.split(",")
    wanted = [name for name in lacking if name in USUAL_LIBRARIES or name in {*settings.library_names} - {*default}]
    if not wanted:
        return Finding("libraries", Level.OK, text)
    mend = f"apt-get install {' '.join(f'python3-{name}' for name in wanted)}"
    return Finding("libraries", Level.WARNING, text, mend)


def judge_libraries(settings: Settings) -> Finding:
    """Report the headers for judges in C++ in the folder that the settings name."""
    folder = Path(settings.judge_libraries) if settings.judge_libraries else None
    there = [name for name in judge_headers.USUAL if judge_headers.read(folder, name) is not None]
    text = f"{', '.join(there) or 'no headers'} in {folder}" if folder else "no folder is set: judges bring theirs"
    return Finding("judge libraries", Level.OK if there or folder is None else Level.WARNING, text)


def port(settings: Settings) -> Finding:
    """Check that the port is free, or used by a running `proctor serve`."""
    where = f"{settings.host} port {settings.port}"
    try:
        preflight.listen(settings).close()
    except ConfigurationError as error:
        if _answers(settings):
            return Finding("port", Level.OK, f"a service answers on {where}")
        text, _, mend = str(error).partition("; ")
        return Finding("port", Level.WARNING, text, mend)
    return Finding("port", Level.OK, f"{where} is free")


CHECKS: tuple[Check, ...] = (
    architecture, user_namespaces, capabilities, apparmor, huge_pages, schedstat, memory, space,
    witness, compile_cache, cgroups, open_files, processes, libraries, judge_libraries, port,
)  # fmt: skip


def _container() -> str | None:
    """Return the sign that this is a container; None if there is none."""
    known = next((path for path in CONTAINER_FILES if Path(path).exists()), None)
    if known or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return known
    return "KUBERNETES_SERVICE_HOST"


def _answers(settings: Settings) -> bool:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host  # noqa: S104
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/healthz"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=ANSWER_SECONDS) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def _at_least(limit: int, wanted: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= wanted


def _shown(limit: int) -> str:
    return "any number" if limit == resource.RLIM_INFINITY else f"{limit:,}"


def _read(path: Path) -> str:
    """Return the file's text; empty if it cannot be read."""
    try:
        return path.read_text().strip("\n\0 ")
    except OSError:
        return ""
