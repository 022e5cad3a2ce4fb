"""Map anonymous, shared and huge memory outside the interpreter's allocator, and touch every page.

Must fail at the memory limit, whichever kind of mapping is used.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "MLE", "TLE", "RTE"], "outcome": "harmless"}
import mmap
import os

SIZE = 1 << 24
kept = []
for flags in (mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, 0x40000 | mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
    try:
        while len(kept) < 64:
            block = mmap.mmap(-1, SIZE, flags=flags)
            for offset in range(0, SIZE, 4096):
                block[offset] = 1
            kept.append(block)
    except (OSError, ValueError, MemoryError):
        pass
if len(kept) * SIZE > 1 << 29:
    os.write(1, b"ESCAPED mapped half a gigabyte\n")
print("held", len(kept))
