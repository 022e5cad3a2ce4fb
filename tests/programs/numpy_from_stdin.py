"""Reads a hundred thousand numbers with numpy straight from stdin, and imports numpy inside a function."""
# proctor: {"input_expr": "' '.join(map(str, range(100000)))", "output": "4999950000 99999\n", "numpy": true}
import sys


def main():
    import numpy as np

    numbers = np.fromstring(sys.stdin.read(), dtype=np.int64, sep=" ")
    print(numbers.sum(), numbers.max())


main()
