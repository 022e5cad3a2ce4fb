"""Uses numpy in the plainest way."""
# proctor: {"input": "2\n1 2\n3 4\n", "output": "[[ 7 10]\n [15 22]]\n", "numpy": true}
import numpy as np

n = int(input())
matrix = np.array([input().split() for _ in range(n)], dtype=np.int64)
print(matrix @ matrix)
