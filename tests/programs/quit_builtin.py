"""Ends by `quit()` inside a function, in the middle of a loop."""
# proctor: {"input": "5\n", "output": "0\n1\n2\n"}


def solve(n):
    for i in range(n):
        if i == 3:
            quit()
        print(i)


solve(int(input()))
