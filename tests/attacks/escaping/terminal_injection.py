"""Type into the terminal that the service was started from, with `TIOCSTI` and `TIOCLINUX`.

What is typed there runs as the service's owner. Must fail: there is no terminal.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import fcntl
import os

descriptors = list(range(16))
for path in ("/dev/tty", "/dev/console", "/proc/self/fd/0", "/dev/pts/0", "/dev/pts/1"):
    try:
        descriptors.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        pass
for descriptor in descriptors:
    for request, argument in ((0x5412, b"\n"), (0x541C, b"\x03")):
        try:
            fcntl.ioctl(descriptor, request, argument)
            print("ESCAPED typed into a terminal", descriptor)
        except OSError:
            pass
print("held")
