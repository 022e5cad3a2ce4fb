"""Put a program into memory and execute it there by its descriptor; or load it as a library.

No file system rule is asked. Must fail: execution by descriptor is refused as well.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
try:
    memory = os.memfd_create("program", 0)
except OSError:
    memory = os.open("/tmp/program", os.O_RDWR | os.O_CREAT, 0o755)
try:
    with open("/bin/echo", "rb") as source:
        os.write(memory, source.read())
    vector = (ctypes.c_char_p * 3)(b"echo", b"ESCAPED ran a program from memory", None)
    if os.uname().machine == "x86_64":
        libc.syscall(322, memory, b"", vector, None, 0x1000)  # execveat, AT_EMPTY_PATH
    libc.fexecve(memory, vector, vector)
    libc.execv(f"/proc/self/fd/{memory}".encode(), vector)
    libc.execv(b"/tmp/program", vector)
except OSError:
    pass
print("held")
