"""Opens `/proc/self/fd/0` by name, twice: each opening starts at the beginning."""
# proctor: {"input": "10\n", "output": "10 10\n"}
print(open("/proc/self/fd/0").read().strip(), open("/proc/self/fd/0").read().strip())
