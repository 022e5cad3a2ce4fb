"""Replace the files that a host might fetch or delete afterwards by links to precious ones, and nest folders deeply.

A careless clean-up as root follows the links or runs out of stack. Must fail: the next submission is graded as usual.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import os

for folder in (os.getcwd(), "/tmp"):
    for name in ("stdout", "stderr", "output", "result.json", "main.py", "solution.py", "core", "a.out", "__pycache__"):
        path = os.path.join(folder, name)
        try:
            if os.path.lexists(path):
                os.rename(path, path + ".moved")
            os.symlink("/etc/passwd", path)
        except OSError:
            pass
try:
    os.chdir("/tmp")
    for _ in range(3000):
        os.mkdir("d", 0o700)
        os.chdir("d")
    os.chmod(".", 0)
    os.mkfifo("/tmp/fifo")
except OSError:
    pass
print("held")
