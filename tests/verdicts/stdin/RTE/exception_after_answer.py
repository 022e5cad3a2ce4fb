"""Prints the right answer and then fails: the failure counts."""
input()
print(sum(int(x) ** 2 for x in input().split()), flush=True)
raise ValueError("after the fact")
