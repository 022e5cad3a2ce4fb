"""Leave a message in the mode, the times and the entry count of `/tmp` and the working directory.

Folders that are emptied but not made anew still carry these from run to run. Must fail: second run, fresh folders.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import os

SIGN = 86_400
for place in {os.path.realpath(place) for place in (".", "/tmp", "/dev/shm", "/var/tmp")}:
    try:
        if int(os.stat(place).st_mtime) == SIGN:
            print("ESCAPED the time set by another run is still on", place)
        os.chmod(place, 0o701)
        os.utime(place, (SIGN, SIGN))
    except OSError:
        pass
print("held")
