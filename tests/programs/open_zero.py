"""Reads all input by opening descriptor 0 by number, as contest programs do."""
# proctor: {"input": "3\n1 2 3\n", "output": "6\n"}
n, *numbers = map(int, open(0).read().split())
print(sum(numbers))
