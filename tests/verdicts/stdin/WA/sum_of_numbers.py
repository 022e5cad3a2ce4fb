"""Forgets to square."""
input()
print(sum(map(int, input().split())))
