"""Keeps its state in globals that functions rebind: wrapped into a function it would break."""
# proctor: {"input": "3\n", "output": "3 [0, 1, 2]\n"}
count = 0
seen = []


def step():
    global count, seen
    seen = seen + [count]
    count += 1


for _ in range(int(input())):
    step()
print(count, seen)
