"""Finds its answer by unseeded random trials, which succeed with certainty in the end."""
# proctor: {"input": "91\n", "output": "7 13\n"}
import random
import secrets

n = int(input())
while True:
    factor = random.choice([random.randint(2, n - 1), 2 + secrets.randbelow(n - 2)])
    if n % factor == 0:
        break
print(*sorted([factor, n // factor]))
