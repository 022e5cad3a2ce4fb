"""Recurses a hundred thousand deep in a thread with a stack of 256 MiB: the usual way around the limits."""
# proctor: {"input": "100000\n", "output": "5000050000\n"}
import sys
import threading


def total(n):
    return 0 if n == 0 else n + total(n - 1)


def main():
    print(total(int(input())))


sys.setrecursionlimit(1 << 20)
threading.stack_size(1 << 28)
thread = threading.Thread(target=main)
thread.start()
thread.join()
