"""Hands work from thread to thread through a queue, with a lock, an event and thread-local storage."""
# proctor: {"input": "", "output": "4950\n"}
import queue
import threading

work, total, lock, done = queue.Queue(), 0, threading.Lock(), threading.Event()
local = threading.local()


def worker():
    global total
    local.count = 0
    while (item := work.get()) is not None:
        with lock:
            total += item
        local.count += 1
    done.set()


threads = [threading.Thread(target=worker) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(100):
    work.put(number)
for _ in threads:
    work.put(None)
for thread in threads:
    thread.join()
print(total if done.is_set() else "?")
