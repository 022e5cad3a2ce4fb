"""Right on the first test only: it drops negative numbers."""
input()
print(sum(int(x) ** 2 for x in input().split() if x[0] != "-"))
