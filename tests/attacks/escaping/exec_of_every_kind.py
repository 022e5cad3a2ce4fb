"""Become another program: every `exec`, a descriptor's program, the interpreter anew, the loader by hand.

A fresh program image shakes off what was prepared in this one. Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

WORDS = ["echo", "ESCAPED became another program"]
libc = ctypes.CDLL(None, use_errno=True)
vector = (ctypes.c_char_p * 3)(*[word.encode() for word in WORDS], None)
for step in (
    lambda: os.execv("/bin/echo", WORDS),
    lambda: os.execve("/usr/bin/echo", WORDS, {}),
    lambda: os.execvp("echo", WORDS),
    lambda: os.execve(os.open("/bin/echo", os.O_RDONLY), WORDS, {}),
    lambda: os.execv("/usr/bin/python3", ["python3", "-c", "print('ESCAPED became a new interpreter')"]),
    lambda: os.execv("/bin/sh", ["sh", "-c", "echo ESCAPED became a shell"]),
    lambda: os.execv("/lib64/ld-linux-x86-64.so.2", ["ld.so", "/bin/echo", WORDS[1]]),
    lambda: os.execv("/usr/bin/firejail", ["firejail", "--noprofile", "echo", WORDS[1]]),
    lambda: os.execv("/usr/bin/sudo", ["sudo", "-n", "echo", WORDS[1]]),
    lambda: libc.execv(b"/bin/echo", vector),
    lambda: libc.syscall(322, -100, b"/bin/echo", vector, None, 0) if os.uname().machine == "x86_64" else None,
):
    try:
        step()
    except OSError:
        pass
print("held")
