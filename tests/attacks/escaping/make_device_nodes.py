"""Make device nodes for memory, disks and terminals in the folders that can be written, and open them.

Must fail: no right to make them, and mounts on which they would not work.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import stat

DEVICES = {"mem": (stat.S_IFCHR, 1, 1), "kmsg": (stat.S_IFCHR, 1, 11), "sda": (stat.S_IFBLK, 8, 0), "vda": (stat.S_IFBLK, 254, 0),
           "loop0": (stat.S_IFBLK, 7, 0), "kvm": (stat.S_IFCHR, 10, 232), "tty1": (stat.S_IFCHR, 4, 1)}
for folder in ("/tmp", "/dev", "/dev/shm", "."):
    for name, (kind, major, minor) in DEVICES.items():
        path = os.path.join(folder, f"made-{name}")
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            print("ESCAPED made a device node:", path)
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            print("ESCAPED opened it")
        except OSError:
            pass
print("held")
