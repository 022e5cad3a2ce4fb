"""The same with 512 MiB, cached by `lru_cache`, whose recursion runs through C frames."""
# proctor: {"input": "200000\n", "output": "20000100000\n", "limits": {"memory_bytes": 2147483648, "cpu_seconds": 6}}
import sys
import threading
from functools import lru_cache

sys.setrecursionlimit(10**7)
threading.stack_size(512 * 1024 * 1024)


@lru_cache(maxsize=None)
def total(n):
    return 0 if n == 0 else n + total(n - 1)


thread = threading.Thread(target=lambda: print(total(int(input()))))
thread.start()
thread.join()
