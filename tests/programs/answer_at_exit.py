"""Prints its answer from an exit handler."""
# proctor: {"input": "5\n", "output": "first\n15\n"}
import atexit

total = 0


@atexit.register
def report():
    print(total)


print("first")
for i in range(int(input()) + 1):
    total += i
