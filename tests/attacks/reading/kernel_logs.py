"""Read what the kernel knows of others: its log, symbols, memory image, schedulers and timers.

Must fail: refused or emptied.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
if libc.klogctl(3, buffer, 4096) > 0:
    print("ESCAPED read the kernel log")
for path in ("/dev/kmsg", "/proc/kmsg", "/proc/kcore", "/dev/mem", "/proc/sched_debug", "/proc/timer_list", "/proc/vmallocinfo"):
    try:
        with open(path, "rb", buffering=0) as file:
            if file.read(16):
                print("ESCAPED read", path)
    except OSError:
        pass
try:
    with open("/proc/kallsyms") as file:
        if any(int(line.split()[0], 16) for line, _ in zip(file, range(100))):
            print("ESCAPED kernel addresses are visible")
except (OSError, ValueError):
    pass
print("held")
