"""Uses module-level names that a harness may clash with: `input`, `main`, `solve`, `test`, `result`, `check`, `id`, `type`."""
# proctor: {"input": "4\n", "output": "4 8 12 16\n"}
import sys

input = sys.stdin.readline
main = int(input())
solve = lambda test: test * main
result = []
for id in range(4):
    result.append(solve(id + 1))
check = candidate = list = str = type = open = None
print(*result)
