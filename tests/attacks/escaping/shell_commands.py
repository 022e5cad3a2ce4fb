"""Run commands by `os.system`, `os.popen`, `subprocess`, `pty`, `platform` and `webbrowser`.

Must fail: the shell never starts.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import pty
import subprocess

COMMAND = "echo ESCAPED a shell ran"
for step in (
    lambda: os.system(COMMAND),
    lambda: print(os.popen(COMMAND).read()),
    lambda: subprocess.run(COMMAND, shell=True, check=False),
    lambda: subprocess.run(["/bin/echo", "ESCAPED a command ran"], check=False),
    lambda: print(subprocess.getoutput(COMMAND)),
    lambda: pty.spawn(["/bin/sh", "-c", COMMAND]),
    lambda: ctypes.CDLL(None).system(COMMAND.encode()),
):
    try:
        step()
    except (OSError, subprocess.SubprocessError, ValueError):
        pass
print("held")
