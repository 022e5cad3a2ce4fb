"""Calls `input()` until `EOFError` says that there is no more."""
# proctor: {"input": "1\n2\n3", "output": "6\n"}
total = 0
try:
    while True:
        total += int(input())
except EOFError:
    print(total)
