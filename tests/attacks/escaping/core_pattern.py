"""Make the kernel run a program of one's choice, as root and outside, whenever something dumps core.

Must fail: the setting is not writable. Should it be, it is written back as it was.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
PATH = "/proc/sys/kernel/core_pattern"
try:
    with open(PATH) as file:
        pattern = file.read()
    with open(PATH, "w") as file:
        file.write(pattern)
    print("ESCAPED may choose what runs on a core dump")
except OSError:
    pass
print("held")
