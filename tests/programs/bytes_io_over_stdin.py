"""The competitive-programming header that replaces `input` by a reader over `os.read` and `io.BytesIO`."""
# proctor: {"input": "3\n1 2\n3 4\n5 6\n", "output": "3\n7\n11\n"}
import io
import os

input = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline
for _ in range(int(input())):
    print(sum(map(int, input().split())))
