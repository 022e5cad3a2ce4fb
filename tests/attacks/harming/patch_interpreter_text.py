"""Make the interpreter's machine code writable and overwrite a function of it.

With memory shared between runs, all later programs would run the patched code. Must fail: the pages are private.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
MARK = b"\xcc" * 12
for function in ("Py_GetCopyright", "PyEval_ReleaseLock", "PyOS_FSPath"):
    try:
        address = ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value
    except AttributeError:
        continue
    if ctypes.string_at(address, 12) == MARK:
        print("ESCAPED machine code is still as another run patched it")
    if function == "PyOS_FSPath":
        continue  # in use: only looked at
    page = address & -mmap.PAGESIZE
    if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), 7) == 0:
        ctypes.memmove(address, MARK, 12)
        print("patched", function)
print("held")
