"""Overwrite, cut and stretch stdin's file, by its descriptor and by a fresh opening: others may read the same file.

Must fail: sealed, or this run's own; the second run reads what it should.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import mmap
import os

text = os.read(0, 100)
if text != b"20 22\n":
    print("ESCAPED the input was changed by another run:", text)
for step in (
    lambda: os.pwrite(0, b"90 92\n", 0),
    lambda: os.ftruncate(0, 3),
    lambda: os.ftruncate(0, 1 << 30),
    lambda: os.pwrite(os.open("/proc/self/fd/0", os.O_RDWR), b"91 93\n", 0),
    lambda: os.truncate("/proc/self/fd/0", 2),
    lambda: os.truncate("/dev/stdin", 1),
    lambda: mmap.mmap(0, 6, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE).write(b"94 95\n"),
):
    try:
        step()
    except (OSError, ValueError):
        pass
print("held")
