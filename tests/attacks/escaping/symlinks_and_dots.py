"""Leave the tree by names: `..` above the root, links in `/proc`, links and hard links to files of the system.

Must fail: every name is looked up within the box's own root.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

own_root = os.stat("/")
roots = ["/" + "../" * 64, "/proc/self/root", "/proc/self/cwd/" + "../" * 64, "/proc/self/task/self/root", "/proc/1/root",
         f"/proc/{os.getppid()}/root", "/proc/self/fd/0/../../", "/dev/fd/../root", "/proc/thread-self/root/../.."]
for path in roots:
    try:
        found = os.stat(path)
        if (found.st_dev, found.st_ino) != (own_root.st_dev, own_root.st_ino) and os.path.isdir(path + "/root"):
            print("ESCAPED another root at", path)
    except OSError:
        pass
for target in ("/etc/shadow", "/etc/passwd", "/usr/bin/python3", "/root"):
    for make in (os.symlink, os.link):
        link = f"/tmp/link-{make.__name__}-{os.path.basename(target)}"
        try:
            make(target, link)
            with open(link, "a"):
                print("ESCAPED may write", target, "through a link")
        except OSError:
            pass
print("held")
