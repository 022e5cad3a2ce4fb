"""Spread over processes by the polite interfaces: `multiprocessing.Pool`, `ProcessPoolExecutor`, `spawn`, `forkserver`.

Each child would have CPU time and memory of its own. Must fail, and promptly: refused by default.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import concurrent.futures
import multiprocessing
import os


def work(number):
    return os.getpid()


if __name__ == "__main__":
    own = os.getpid()
    for method in ("fork", "forkserver", "spawn"):
        try:
            context = multiprocessing.get_context(method)
            child = context.Process(target=work, args=(1,))
            child.start()
            print("ESCAPED started a process by", method, flush=True)
        except (OSError, RuntimeError, EOFError):
            pass
    try:
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            if any(pid != own for pid in pool.map(work, range(4))):
                print("ESCAPED worked in other processes", flush=True)
    except (OSError, RuntimeError):
        pass
    print("held")
