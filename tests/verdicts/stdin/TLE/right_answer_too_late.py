"""Prints the right answer and then computes on: the answer does not save it."""
input()
print(sum(int(x) ** 2 for x in input().split()), flush=True)
while True:
    pass
