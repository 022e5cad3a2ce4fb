"""Learn from the mount table where the tree comes from, and open those places by name.

An overlay's upper folder or a bind mount's source would lead to the host's own tree. Must fail: no such path opens.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import re

with open("/proc/self/mountinfo") as file:
    table = file.read()
for path in sorted(set(re.findall(r"(?:upperdir|lowerdir|workdir)=([^,\s]+)", table))):
    for part in path.split(":"):
        try:
            os.listdir(part)
            print("ESCAPED opened a layer of the tree:", part)
        except OSError:
            pass
for old in ("/old", "/oldroot", "/.old", "/.pivot", "/put_old", "/host", "/rootfs", "/mnt/root"):
    try:
        if os.listdir(old):
            print("ESCAPED the old root is still reachable at", old)
    except OSError:
        pass
print("held")
