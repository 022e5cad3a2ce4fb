"""Reads text beyond ASCII as bytes and decodes it itself, wrongly on purpose and then right."""
# proctor: {"input": "é☃\n", "output": "5 Ã©â\u0098\u0083 é☃\n"}
import sys

data = sys.stdin.buffer.readline().strip()
print(len(data), data.decode("latin-1"), data.decode())
