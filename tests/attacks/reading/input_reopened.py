"""Look around stdin: before its start, past its end, through its entry in `/proc`, and at its neighbours by name.

A harness that keeps inputs and outputs in one file, or side by side, would show the answer. Must fail.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import re

target = os.readlink("/proc/self/fd/0")
found = b""
for offset in (0, 6, 4096, 1 << 20):
    try:
        found += os.pread(0, 4096, offset)
    except OSError:
        pass
stem = os.path.splitext(target)[0]
for path in ("/proc/self/fd/0", stem + ".out", stem + ".ans", stem + ".a", target.replace("in", "out"), stem + ".json"):
    try:
        with open(path, "rb") as file:
            found += file.read(1 << 20)
    except (OSError, ValueError):
        pass
numbers = [number for number in re.findall(rb"\d+", found) if number not in (b"20", b"22")]
print(*numbers)
