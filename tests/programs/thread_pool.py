"""Computes in a pool of threads."""
# proctor: {"input": "5\n", "output": "[0, 1, 8, 27, 64]\n"}
from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(max_workers=4) as pool:
    cubes = [pool.submit(pow, i, 3) for i in range(int(input()))]
    print(sorted(future.result() for future in as_completed(cubes)))
