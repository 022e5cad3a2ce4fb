"""The room that boxes stand in: a small read-only root, built once by the zygote before it serves.

Shown: /usr (read-only), four harmless devices, a two-line passwd, empty places for the child's own /tmp and /proc.
Not shown: everything else of the machine. firejail has by then taken away the network, the devices, other users'
files and most capabilities; this is a second wall inside its first.
"""

import os
import sys

import _box

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MS_RELATIME = 1 << 21
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000

ROOT = "/tmp/room"  # firejail's private /tmp, not the machine's
DEVICES = ("null", "zero", "random", "urandom")
PROC_FILES = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version")
HUGE_PAGE = 2 << 20


def build(uid: int, *, own_namespace: bool) -> None:
    """Make the room and move into it. `own_namespace`: first become root of a user namespace (we are not root)."""
    if own_namespace:
        _own_user_namespace()
    else:
        _box.unshare(CLONE_NEWNS)
    _box.mount(None, "/", None, MS_REC | MS_PRIVATE, None)
    os.makedirs(ROOT, exist_ok=True)
    _box.mount("tmpfs", ROOT, "tmpfs", 0, "size=1m,mode=755")
    _show_programs()
    _show_devices()
    _write_passwd(uid)
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


def _flags_to_keep(target: str) -> int:
    """What a mount has and may not lose in a user namespace; a remount that does not name it is refused there."""
    flags = os.statvfs(target).f_flag
    kept = flags & (os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)  # the same numbers as MS_…
    return kept | (MS_RELATIME if flags & os.ST_RELATIME else 0)


def _show_proc() -> None:
    """A skeleton of /proc, and at /tmp the real one: out of it a box shows its own process, then hides it (_box.c)."""
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


def _write_passwd(uid: int) -> None:
    os.makedirs(f"{ROOT}/etc", exist_ok=True)
    _write(f"{ROOT}/etc/passwd", f"root:x:0:0::/:/bin/false\nbox:x:{uid}:{uid}::/tmp:/bin/false\n")
    _write(f"{ROOT}/etc/group", f"root:x:0:\nbox:x:{uid}:\n")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def use_huge_text() -> bool:
    """Put the interpreter's read-only span on huge pages, rounded inwards; False where that leaves nothing.

    A fork copies page tables; with 4 MiB of text in two entries, tests cost a tenth less CPU.
    """
    start, end = _read_only_span(sys.executable)
    start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
    if end <= start:
        return False
    _box.huge_text(start, end)
    return True


def _read_only_span(executable: str) -> tuple[int, int]:
    """First and last address of the adjoining read-only mappings of a file; (0, 0) if there are none."""
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
