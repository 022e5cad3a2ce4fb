"""Its input is empty, which is not the same as someone else's input."""
# proctor: {"input": "", "output": "b'' 0\n"}
import os
import sys

print(sys.stdin.buffer.read(), os.fstat(0).st_size)
