"""Change the kernel's settings under `/proc/sys`, `/sys` and the cgroup tree, and reach for `sysrq`.

Must fail: read-only or absent. What could be written is only opened.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

PATHS = """/proc/sysrq-trigger /proc/sys/kernel/sysrq /proc/sys/kernel/hostname /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug
/proc/sys/kernel/randomize_va_space /proc/sys/vm/overcommit_memory /proc/sys/vm/drop_caches
/proc/sys/fs/binfmt_misc/register /proc/sys/kernel/pid_max /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/threads-max
/proc/self/uid_map /proc/self/setgroups /proc/self/attr/current /sys/kernel/uevent_helper /sys/power/state
/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes
/sys/fs/cgroup/release_agent /sys/fs/cgroup/memory/release_agent /sys/module/kernel/parameters/panic""".split()
for path in PATHS:
    if path in ("/proc/self/uid_map", "/proc/self/setgroups", "/proc/self/attr/current"):
        try:
            with open(path, "w") as file:
                file.write("0 0 1\n" if path.endswith("map") else "allow")
            print("ESCAPED wrote", path)
        except OSError:
            pass
        continue
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("ESCAPED may write", path)
    except OSError:
        pass
try:
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:  # anyone may open it; writing takes a capability
        file.write("1000")
    print("ESCAPED chose the next process id")
except OSError:
    pass
for path in ("/sys/fs/cgroup/made-from-a-box", "/sys/fs/cgroup/memory/made-from-a-box"):
    try:
        os.mkdir(path)
        print("ESCAPED made a cgroup:", path)
        os.rmdir(path)
    except OSError:
        pass
print("held")
