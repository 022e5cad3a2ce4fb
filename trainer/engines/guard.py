"""Run a command that ends when whoever started it ends, with all that it started: `python -I guard.py PID COMMAND …`.

The kernel sends SIGTERM when the thread that started us is gone. It is asked for here, in a process of its own: a
function between fork and exec would fork the whole trainer, with its threads and its GPU. And it is not left to vLLM
to hear it: one that is still starting was seen to go on. We lead the process group, and leave nobody in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h
END_SECONDS = 8.0  # for the command to end by itself


def main() -> None:
    """Run the command to its end, or to ours."""
    parent, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        sys.exit("whoever started this is gone already")
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
