"""Leave a mark in every place that can be written, and look for the mark that an earlier run of this file left.

A box that is not made anew for each run carries answers from one submission to the next. Must fail: second run, no mark.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import os

MARK = ".left-by-another-run"
PLACES = {
    ".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/var/lock", "/dev", "/dev/mqueue", "/dev/pts", "/", "/home", "/srv",
    "/mnt", "/media", "/opt", "/usr/local", "/var/log", "/var/cache", "/proc/self/cwd", os.path.expanduser("~"), "/etc", "/sys",
    f"/run/user/{os.getuid()}", f"/run/lock/{os.getuid()}",
}
seen, canonical = [], {os.path.realpath(place) for place in PLACES}
for place in sorted(canonical):
    path = os.path.join(place, MARK)
    if os.path.lexists(path):
        seen.append(path)
    try:
        if MARK.encode() in b"".join(name.encode() for name in os.listxattr(place)):
            seen.append(f"{place} (attribute)")
        os.setxattr(place, f"user.{MARK}", b"1")
    except OSError:
        pass
    try:
        with open(path, "x") as file:
            file.write("4 8 15 16 23 42")
    except OSError:
        pass
for path in seen:
    print("ESCAPED left over from another run:", path)
print("held")
