"""Sorts with the C library's `qsort`, by ctypes, with a Python function as the comparison."""
# proctor: {"input": "5 3 9 -1 4\n", "output": "-1 3 4 5 9\n"}
import ctypes

libc = ctypes.CDLL(None)
numbers = [int(x) for x in input().split()]
array = (ctypes.c_int * len(numbers))(*numbers)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc.qsort(array, len(array), ctypes.sizeof(ctypes.c_int), compare(lambda a, b: a[0] - b[0]))
print(*array)
