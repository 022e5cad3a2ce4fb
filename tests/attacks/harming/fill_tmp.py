"""Fill `/tmp` and the working directory to the brim, and leave it so.

The next run must find room. Must fail: the space belongs to the run and goes with it.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "MLE", "TLE", "OLE"], "outcome": "harmless", "runs": 2}
import errno
import os


def try_small(place):
    path = os.path.join(place, "small")
    try:
        with open(path, "wb") as file:
            file.write(b"x" * 65536)
        os.unlink(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            print("ESCAPED the disk is full before we began:", place, flush=True)


for place in dict.fromkeys(os.path.realpath(place) for place in (".", "/tmp", "/var/tmp")):
    try_small(place)
    count, size = 0, 0
    try:
        while size < 1 << 29:
            with open(os.path.join(place, f"fill-{count}"), "wb", buffering=0) as file:
                for _ in range(4):
                    size += file.write(b"x" * (1 << 18))
            count += 1
    except OSError:
        pass
    if size >= 1 << 29:
        print("ESCAPED wrote without a bound to", place, flush=True)
print("held")
