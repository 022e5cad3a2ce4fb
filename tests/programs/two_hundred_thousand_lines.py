"""Reads two hundred thousand lines by `input()` and prints as many by `print`."""
# proctor: {"input_expr": "'200000\\n' + ''.join(f'{i} {i * i}\\n' for i in range(200000))", "output_expr": "''.join(f'{i * i - i}\\n' for i in range(200000))"}
for _ in range(int(input())):
    a, b = map(int, input().split())
    print(b - a)
