"""Mount, bind, remount writable, move and unmount.

Must fail: a box's mounts are made for it, and it has no right to change them.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
READ_ONLY, REMOUNT, BIND, MOVE, PRIVATE = 1, 32, 4096, 8192, 1 << 18
for source, target, kind, flags in [
    (b"tmpfs", b"/tmp", b"tmpfs", 0),
    (b"proc", b"/tmp", b"proc", 0),
    (b"sysfs", b"/tmp", b"sysfs", 0),
    (b"cgroup2", b"/tmp", b"cgroup2", 0),
    (b"/usr", b"/tmp", None, BIND),
    (b"/", b"/tmp", None, BIND | 16384),
    (None, b"/", None, REMOUNT),
    (None, b"/usr", None, REMOUNT | BIND),
    (None, b"/", None, PRIVATE),
    (b"/tmp", b"/usr", None, MOVE),
    (b"/dev/sda1", b"/tmp", b"ext4", READ_ONLY),
    (b"overlay", b"/tmp", b"overlay", 0),
]:
    if libc.mount(source, target, kind, flags, None) == 0:
        print("ESCAPED mounted", source, target, kind, flags)
for target in (b"/proc", b"/tmp", b"/dev", b"/usr", b"/"):
    for flags in (0, 2, 8):
        if libc.umount2(target, flags) == 0:
            print("ESCAPED unmounted", target)
print("held")
