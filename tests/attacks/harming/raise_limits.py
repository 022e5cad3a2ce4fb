"""Raise the resource limits again, one's own and the parent's, and tighten everybody else's.

Must fail: hard limits only go down, and only here.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import resource

for name in [name for name in dir(resource) if name.startswith("RLIMIT_")]:
    which = getattr(resource, name)
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        continue
    for wanted in (hard + 1, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(which, (soft, wanted))
            print("ESCAPED raised", name)
        except (OSError, ValueError):
            pass
for pid in {os.getppid(), *range(1, 100)} - {0, os.getpid()}:
    try:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0))
        print("ESCAPED limited process", pid)
    except OSError:
        pass
print("held")
