"""Put a key into the user's and the session's keyring and look for one that an earlier run put there.

Keyrings hang on the uid and outlive processes. Must fail: the calls are refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":
    KEYCTL, ADD_KEY, REQUEST_KEY, SEARCH = 250, 248, 249, 10
    for ring in (-1, -2, -3, -4, -5):
        if libc.syscall(KEYCTL, SEARCH, ring, b"user", b"left-by-another-run", 0) > 0:
            print("ESCAPED a key of another run is in ring", ring)
        if libc.syscall(ADD_KEY, b"user", b"left-by-another-run", b"secret", 6, ring) > 0:
            print("ESCAPED a key could be left in ring", ring)
    if libc.syscall(REQUEST_KEY, b"user", b"left-by-another-run", None, -4) > 0:
        print("ESCAPED a key was found on request")
try:
    with open("/proc/keys") as file:
        if "left-by-another-run" in file.read():
            print("ESCAPED a key of another run is listed")
except OSError:
    pass
print("held")
