"""A recursive search along a path of fifty thousand nodes, with nested functions and `nonlocal`."""
# proctor: {"input_expr": "'50000\\n' + ''.join(f'{i} {i + 1}\\n' for i in range(1, 50000))", "output": "50000 1250025000\n"}
import sys

sys.setrecursionlimit(200_000)
input = sys.stdin.readline


def main():
    n = int(input())
    graph = [[] for _ in range(n + 1)]
    for _ in range(n - 1):
        a, b = map(int, input().split())
        graph[a].append(b)
        graph[b].append(a)
    count = total = 0

    def visit(node, parent):
        nonlocal count, total
        count += 1
        total += node
        for other in graph[node]:
            if other != parent:
                visit(other, node)

    visit(1, 0)
    print(count, total)


main()
