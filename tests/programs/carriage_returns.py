"""Reads lines that end in carriage return and newline: on Linux, Python's stdin hands on the carriage returns."""
# proctor: {"input": "1\r\n2\r\n3\r\n", "output": "6 ['1\\r', '2\\r', '3\\r'] '3' [49, 13, 10]\n"}
import sys

lines = sys.stdin.read().split("\n")[:-1]
sys.stdin.seek(0)
print(sum(map(int, lines)), lines, repr(lines[-1].strip()), list(sys.stdin.buffer.readline()))
