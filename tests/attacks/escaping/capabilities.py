"""Regain capabilities: by `capset`, as ambient ones, by the securebits; and look for any that were forgotten.

Must fail: all sets are empty, and no new privileges can be gained.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
with open("/proc/self/status") as file:
    status = dict(line.rstrip().split(":\t", 1) for line in file if ":\t" in line)
for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
    if int(status[name], 16):
        print("ESCAPED has capabilities:", name, status[name])
if status.get("NoNewPrivs") != "1":
    print("ESCAPED may gain privileges by running a set-uid program")
if status.get("Seccomp") != "2":
    print("ESCAPED runs without a system call filter")
header, everything = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
if libc.capset(header, everything) == 0:
    print("ESCAPED gave itself all capabilities")
for capability in range(41):
    if libc.prctl(47, 2, capability, 0, 0) == 0:  # PR_CAP_AMBIENT_RAISE
        print("ESCAPED raised capability", capability)
if libc.prctl(28, 1, 0, 0, 0) == 0:  # PR_SET_SECUREBITS
    print("ESCAPED changed the securebits")
print("held")
