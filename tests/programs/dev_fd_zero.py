"""Opens `/dev/fd/0` by name, and writes through `/dev/stdout`."""
# proctor: {"input": "21\n", "output": "63\n"}
number = int(open("/dev/fd/0").read())
with open("/dev/stdout", "w") as out:
    print(3 * number, file=out)
