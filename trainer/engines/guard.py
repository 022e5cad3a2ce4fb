"""Runs a command and kills it with all its descendants when the parent ends: `python -I guard.py PID COMMAND …`.

The kernel sends SIGTERM when the thread that started the guard ends (PR_SET_PDEATHSIG). vLLM can ignore it during
start-up: the guard leads the process group and kills all of it at the end.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h
END_SECONDS = 8.0  # from SIGTERM to SIGKILL


def main() -> None:
    """Run the command until it or the parent ends."""
    parent, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        sys.exit("the parent process has ended already")
    child = subprocess.Popen(command)
    try:
        child.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(END_SECONDS)
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
