"""Matches structures with `match`, guards, classes and captures."""
# proctor: {"input": "move 1 2\nturn left\nstop\nfly\n", "output": "3\nleft\nend\n? ['fly']\n"}
import sys

for line in sys.stdin:
    match line.split():
        case ["move", x, y] if x.isdigit():
            print(int(x) + int(y))
        case ["turn", ("left" | "right") as side]:
            print(side)
        case ["stop"]:
            print("end")
        case other:
            print("?", other)
