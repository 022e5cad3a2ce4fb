"""Squares each number and prints the sum of the squares."""
n = int(input())
print(sum(int(x) ** 2 for x in input().split()[:n]))
