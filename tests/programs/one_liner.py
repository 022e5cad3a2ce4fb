"""Does everything in one expression."""
# proctor: {"input": "3\n1 2\n3 4\n5 6\n", "output": "3 7 11\n"}
print(*[sum(map(int, input().split())) for _ in [0] * int(input())])
