"""Open pseudo-terminals and become a session leader with a controlling terminal, a way to others' job control.

Must fail to reach anyone: neither a session nor a terminal is shared with anybody.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import fcntl
import os

try:
    own, other = os.openpty()
    made = os.ttyname(other)
except OSError:
    made = None
try:
    terminals = [f"/dev/pts/{name}" for name in os.listdir("/dev/pts") if name.isdigit()]
except OSError:
    terminals = []
for path in terminals:
    if path != made:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
            print("ESCAPED opened somebody's terminal", path)
        except OSError:
            pass
try:
    descriptor = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(descriptor, 0x5412, b"x")
    print("ESCAPED typed into the controlling terminal")
except OSError:
    pass
print("held")
