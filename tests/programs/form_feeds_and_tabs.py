"""Indents with tabs and parts its sections with form feeds."""
# proctor: {"input": "3\n", "output": "0\n2\n"}

def evens(n):
	for i in range(n):
		if i % 2 == 0:
			yield i

for i in evens(int(input())):
	print(i)
