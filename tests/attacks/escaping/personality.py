"""Change the execution domain: no address randomisation, readable means executable, other systems' conventions.

It makes attacks on this process, and on what it starts, easier. Must fail: refused (to ask for the present one is harmless).
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
for name, value in {"no randomisation": 0x40000, "read implies execute": 0x400000, "Linux 32": 8, "page zero": 0x100000}.items():
    if libc.personality(ctypes.c_ulong(value)) >= 0:
        print("ESCAPED changed the personality:", name)
print("held")
