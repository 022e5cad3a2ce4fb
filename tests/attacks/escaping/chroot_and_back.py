"""The classic way out of a changed root: `chroot` into a subfolder with an open handle outside, climb up, `chroot` again.

Must fail: `chroot` is refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

handle = os.open("/", os.O_RDONLY)
try:
    os.makedirs("/tmp/inner", exist_ok=True)
    os.chroot("/tmp/inner")
    print("ESCAPED changed the root")
    os.fchdir(handle)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    print("ESCAPED climbed out", os.listdir("/"))
except OSError:
    pass
print("held")
