"""Fill `/dev/shm`, and anything else that is a file system in memory, and leave it so.

Must fail: not writable, or the run's own and bounded.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "MLE", "TLE"], "outcome": "harmless", "runs": 2}
import errno
import os

with open("/proc/self/mounts") as file:
    places = [line.split()[1] for line in file if line.split()[2] in ("tmpfs", "ramfs", "devtmpfs", "mqueue", "hugetlbfs")]
for place in dict.fromkeys(["/dev/shm", *places]):
    size, count = 0, 0
    try:
        while size < 1 << 29:
            with open(os.path.join(place, f"fill-{count}"), "wb", buffering=0) as file:
                size += file.write(b"x" * (1 << 20))
            count += 1
        print("ESCAPED took half a gigabyte of memory through", place, flush=True)
    except OSError as error:
        if size == 0 and error.errno == errno.ENOSPC:
            print("ESCAPED no room was left by another run in", place, flush=True)
print("held")
