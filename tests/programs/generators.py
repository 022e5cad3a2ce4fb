"""Drives generators with `send`, `throw`, `yield from` and clean-up."""
# proctor: {"input": "", "output": "0 10 caught 3 closed\n"}


def inner():
    got = yield 0
    try:
        yield got * 2
    except ValueError:
        yield "caught"
    return 3


def outer():
    try:
        result = yield from inner()
        yield result
    finally:
        print("closed")


generator = outer()
print(next(generator), generator.send(5), generator.throw(ValueError), next(generator), end=" ")
generator.close()
