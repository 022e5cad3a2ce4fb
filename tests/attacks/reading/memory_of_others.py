"""Read memory, environment, maps, descriptors and working directories of every other process in `/proc`.

Must fail: no other process is to be seen, and none may be opened.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

others = {int(name) for name in os.listdir("/proc") if name.isdigit()} | set(range(1, 64)) | {os.getppid()}
for pid in sorted(others - {os.getpid(), 0}):
    for name in ("mem", "environ", "auxv", "stack", "syscall", "pagemap"):
        try:
            with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
                file.read(1 if name != "mem" else 0)
            print(f"ESCAPED read {name} of process {pid}")
        except OSError:
            pass
    for name in ("fd", "map_files", "cwd", "root"):
        try:
            os.listdir(f"/proc/{pid}/{name}/")
            print(f"ESCAPED listed {name} of process {pid}")
        except OSError:
            pass
print("held")
