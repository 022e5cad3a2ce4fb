"""Prints the size of stdin, which a pipe would not know."""
# proctor: {"input": "hello\nworld\n", "output": "12 True\n"}
import os
import stat

status = os.fstat(0)
print(status.st_size, stat.S_ISREG(status.st_mode))
