"""Draws random numbers from a seed: the same everywhere."""
# proctor: {"input": "", "output": "[81, 14, 3, 94, 35] [5, 1, 4, 2, 3] 0.6394267984578837\n"}
import random

random.seed(42)
numbers = [random.randrange(100) for _ in range(5)]
order = [1, 2, 3, 4, 5]
random.Random(7).shuffle(order)
print(numbers, order, random.Random(42).random())
