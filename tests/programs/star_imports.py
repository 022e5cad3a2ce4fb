"""Imports everything from half a dozen modules by stars, as contest templates do."""
# proctor: {"input": "5\n3 1 2 3 1\n", "output": "[(1, 2), (3, 2), (2, 1)] 1 6 [1, 2] 3\n"}
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from operator import *

n = int(input())
numbers = [int(x) for x in input().split()]
counts = Counter(sorted(numbers))
heap = numbers[:]
heapify(heap)
print(counts.most_common(), heap[0], reduce(mul, set(numbers)), list(islice(sorted(set(numbers)), 2)), bisect_left(sorted(numbers), 3))
