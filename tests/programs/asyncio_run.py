"""Solves its task with `asyncio`, whose loop wants a pair of connected sockets for itself."""
# proctor: {"input": "3\n", "output": "[0, 1, 4]\n"}
import asyncio


async def square(n):
    await asyncio.sleep(0.001 * (3 - n))
    return n * n


async def main():
    print(await asyncio.gather(*(square(i) for i in range(int(input())))))


asyncio.run(main())
