"""Prints five megabytes of right output."""
# proctor: {"input": "800000\n", "output_expr": "''.join(f'{i}\\n' for i in range(800000))"}
n = int(input())
print("\n".join(map(str, range(n))))
