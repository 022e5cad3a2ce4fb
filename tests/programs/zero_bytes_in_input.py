"""Its input holds NUL and control characters."""
# proctor: {"input": "a\u0000b\u0001\u007f\n", "output": "[97, 0, 98, 1, 127, 10]\n"}
import sys

print(list(sys.stdin.buffer.read()))
