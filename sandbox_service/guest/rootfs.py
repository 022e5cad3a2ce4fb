"""Builds the root file system of all boxes: small, read-only, made once by the zygote before it serves.

Shown: /usr (read-only), four harmless devices, a short passwd, empty mount points for the box's own /tmp and /proc.
Not shown: everything else of the machine. firejail has already removed the network, the devices, other users' files
and most capabilities; this is a second barrier inside the first.
"""

import os
import sys

import _box

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MS_RELATIME = 1 << 21
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000

# libraries for submissions, and libraries for test programs only
LIBRARIES, TEST_LIBRARIES = "/etc/libraries", "/etc/test-libraries"
ROOT = "/tmp/room"  # firejail's private /tmp, not the machine's
DEVICES = ("null", "zero", "random", "urandom")
PROC_FILES = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version")
HUGE_PAGE = 2 << 20


def build(uid: int, tester_uid: int, libraries: dict[str, list[str]], *, own_namespace: bool) -> None:
    """Build the root file system and enter it.

    Args:
        uid: uid of boxes.
        tester_uid: uid of tester boxes.
        libraries: folders of the root, and the paths below /usr that each links to.
        own_namespace: first become root of a new user namespace (the process is not root).
    """
    if own_namespace:
        _own_user_namespace()
    else:
        _box.unshare(CLONE_NEWNS)
    _box.mount(None, "/", None, MS_REC | MS_PRIVATE, None)
    os.makedirs(ROOT, exist_ok=True)
    _box.mount("tmpfs", ROOT, "tmpfs", 0, "size=1m,mode=755")
    _show_programs()
    _show_libraries(libraries)
    _show_devices()
    _write_passwd({"box": uid, "tester": tester_uid})
    for folder in ("proc", "tmp"):
        os.mkdir(f"{ROOT}/{folder}")
    if own_namespace:
        _show_proc()
    _box.enter_root(ROOT)
    _box.mount(None, "/", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID, None)


def _own_user_namespace() -> None:
    uid, gid = os.getuid(), os.getgid()
    _box.unshare(CLONE_NEWUSER | CLONE_NEWNS)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def _show_programs() -> None:
    for source in ("/usr", "/etc/alternatives"):  # numpy's BLAS is found through an alternative
        if not os.path.isdir(source):
            continue
        target = ROOT + source
        os.makedirs(target)
        _box.mount(source, target, None, MS_BIND | MS_REC, None)
        flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV
        _box.mount(None, target, None, flags | _flags_to_keep(target), None)
    for link in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{link}"):
            os.symlink(os.readlink(f"/{link}"), f"{ROOT}/{link}")


def _show_libraries(libraries: dict[str, list[str]]) -> None:
    """Link to the libraries; every mount would be copied for every box."""
    for folder, paths in libraries.items():
        os.makedirs(ROOT + folder)
        for path in paths:
            os.symlink(path, f"{ROOT}{folder}/{os.path.basename(path)}")


def _flags_to_keep(target: str) -> int:
    """Return the mount flags that may not be dropped in a user namespace; a remount without them is refused."""
    flags = os.statvfs(target).f_flag
    kept = flags & (os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)  # the same numbers as MS_…
    return kept | (MS_RELATIME if flags & os.ST_RELATIME else 0)


def _show_proc() -> None:
    """Make a skeleton of /proc, and mount the real one at /tmp, from which a box mounts its own process (_box.c)."""
    os.mkdir(f"{ROOT}/proc/1")
    os.symlink("1", f"{ROOT}/proc/self")
    os.symlink("self/net", f"{ROOT}/proc/net")
    for name in PROC_FILES:
        _write(f"{ROOT}/proc/{name}", "")
        _box.mount(f"/proc/{name}", f"{ROOT}/proc/{name}", None, MS_BIND, None)
    _box.mount("/proc", f"{ROOT}/tmp", None, MS_BIND | MS_REC, None)


def _show_devices() -> None:
    os.mkdir(f"{ROOT}/dev")
    for name in DEVICES:
        _write(f"{ROOT}/dev/{name}", "")
        _box.mount(f"/dev/{name}", f"{ROOT}/dev/{name}", None, MS_BIND, None)
    os.symlink("/proc/self/fd", f"{ROOT}/dev/fd")
    os.symlink("/tmp", f"{ROOT}/dev/shm")  # multiprocessing's semaphores, in the box's own /tmp
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{fd}", f"{ROOT}/dev/{name}")


def _write_passwd(users: dict[str, int]) -> None:
    os.makedirs(f"{ROOT}/etc", exist_ok=True)
    lines = [f"{name}:x:{uid}:{uid}::/tmp:/bin/false\n" for name, uid in users.items()]
    _write(f"{ROOT}/etc/passwd", "".join(["root:x:0:0::/:/bin/false\n", *lines]))
    _write(f"{ROOT}/etc/group", "".join(["root:x:0:\n", *(f"{name}:x:{uid}:\n" for name, uid in users.items())]))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def use_huge_text() -> bool:
    """Move the interpreter's read-only mappings to huge pages, rounded inwards.

    A fork copies page tables; with 4 MiB of text in two entries, tests cost a tenth less CPU.

    Returns:
        False if nothing is left after rounding.
    """
    start, end = _read_only_span(sys.executable)
    start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
    if end <= start:
        return False
    _box.huge_text(start, end)
    return True


def _read_only_span(executable: str) -> tuple[int, int]:
    """Return the first and last address of a file's adjoining read-only mappings; (0, 0) if there are none."""
    path, first, last = os.path.realpath(executable), 0, 0
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split()
            if len(fields) < 6 or fields[5] != path or "w" in fields[1]:
                continue
            start, end = (int(address, 16) for address in fields[0].split("-"))
            if not first:
                first, last = start, end
            elif start == last:
                last = end
    return first, last
