"""Prints by C's own buffered `printf`, which the C library flushes when the process ends properly."""
# proctor: {"input": "", "output": "number 42\n"}
import ctypes

ctypes.CDLL(None).printf(b"number %d\n", 42)
