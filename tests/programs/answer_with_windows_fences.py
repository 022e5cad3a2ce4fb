"""Comes in an answer whose lines end in carriage return and newline."""
# proctor: {"input": "2\n", "output": "3\n", "completion": true, "source_expr": "source.replace('\\n', '\\r\\n')"}
n = int(input())
print(n + 1)
