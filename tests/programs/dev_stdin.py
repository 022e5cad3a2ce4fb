"""Opens `/dev/stdin` by name."""
# proctor: {"input": "21\n", "output": "42\n"}
print(2 * int(open("/dev/stdin").readline()))
