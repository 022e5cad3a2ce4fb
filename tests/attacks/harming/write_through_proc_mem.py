"""Write into the own read-only pages through `/proc/self/mem`, library text and cached constants included.

The kernel lets a process do so by copying the page; a shared page must not be reached. Must fail: second run sees nothing.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes

MARK = b"left!"
address = ctypes.cast(ctypes.pythonapi.Py_GetCompiler, ctypes.c_void_p).value
if ctypes.string_at(address, 5) == MARK:
    print("ESCAPED another run's bytes are in the interpreter")
try:
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        memory.write(MARK)
except OSError:
    pass
print("held")
