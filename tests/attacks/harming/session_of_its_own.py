"""Leave the session and the group, or find others in them: kill(0), killpg, every signal, and a new session.

Must fail: a box leads a session of its own, in which nobody else is.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import signal


def solve(a, b):
    if os.getsid(0) != os.getpid() or os.getpgrp() != os.getpid():
        os.write(1, b"ESCAPED in somebody else's session\n")
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    for number in range(1, 65):
        for target in (0, -1, -os.getpgrp()):
            try:
                os.kill(target, number)
            except OSError:
                pass
    for action in (os.setsid, os.setpgrp, lambda: os.setpgid(0, 0), lambda: os.tcsetpgrp(0, 1)):
        try:
            action()
        except OSError:
            pass
    return 0


solve(20, 22)
