"""Prints the answer, and then one thing too many."""
input()
print(sum(int(x) ** 2 for x in input().split()), "that is all")
