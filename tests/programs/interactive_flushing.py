"""Flushes after every line and reads what is there, as for an interactive task."""
# proctor: {"input": "3\n1\n2\n3\n", "output": "? 1\n? 2\n? 3\n! 6\n"}
import sys

total = 0
for i in range(int(input())):
    print("?", i + 1, flush=True)
    total += int(sys.stdin.readline())
sys.stdout.write(f"! {total}\n")
sys.stdout.flush()
