"""Keep memory in unlinked files of the in-memory file system and in memory files, where no process limit sees it.

Must fail: `/tmp` is small, and memory files are refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "MLE", "TLE", "RTE", "OLE"], "outcome": "harmless"}
import os

total, kept = 0, []
try:
    while total < 1 << 29:
        name = f"/tmp/hidden-{len(kept)}"
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT)
        os.unlink(name)
        kept.append(descriptor)
        for _ in range(4):
            total += os.write(descriptor, bytes(1 << 18))
except OSError:
    pass
try:
    while total < 1 << 29:
        descriptor = os.memfd_create("hidden")
        kept.append(descriptor)
        for _ in range(4):
            total += os.write(descriptor, bytes(1 << 18))
except OSError:
    pass
if total >= 1 << 29:
    print("ESCAPED half a gigabyte lies in files")
print("held", total)
