"""Use an inherited descriptor of a folder to climb out: `openat(fd, "../../..")`.

Must fail: the box holds no folder from outside its root.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import stat

root = os.stat("/")
for descriptor in range(1024):
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            continue
        up = os.stat("../" * 40, dir_fd=descriptor)
        if (up.st_dev, up.st_ino) != (root.st_dev, root.st_ino):
            print("ESCAPED descriptor", descriptor, "leads to another root")
    except OSError:
        pass
print("held")
