"""Create, append to, rename and delete files of the system.

Must fail: the tree is read-only and belongs to somebody else.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

FOLDERS = ["/", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot",
           "/opt", "/srv", "/var", "/var/lib", "/root", "/home", "/proc/sys/kernel", "/sys/kernel", "/sys/fs/cgroup", "/dev",
           os.path.dirname(os.__file__)]
for folder in dict.fromkeys(FOLDERS):
    path = os.path.join(folder, ".written-from-a-box")
    try:
        with open(path, "x"):
            pass
        os.unlink(path)
        if folder != "/dev":
            print("ESCAPED wrote into", folder)
    except OSError:
        pass
for path in ("/etc/passwd", "/etc/ld.so.preload", "/etc/hosts", os.__file__, "/usr/bin/python3", "/etc/resolv.conf"):
    for step in (
        lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)),
        lambda: os.utime(path, None),
        lambda: os.chmod(path, 0o777),
        lambda: os.link(path, os.path.join(os.path.dirname(path), ".linked-from-a-box")),
    ):
        try:
            step()
            print("ESCAPED may change", path)
        except OSError:
            pass
print("held")
