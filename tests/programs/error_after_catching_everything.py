"""Wraps its main loop into a bare `except` that ends it, as quick solutions do."""
# proctor: {"input": "1 2\n3 4\n", "output": "3\n7\n"}
while True:
    try:
        a, b = map(int, input().split())
        print(a + b)
    except:
        break
