"""Starts a thread and ends the main part; the interpreter waits for the thread, which answers."""
# proctor: {"input": "8\n", "output": "21\n"}
import threading
import time


def work(n):
    time.sleep(0.05)
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    print(a)


threading.Thread(target=work, args=(int(input()),)).start()
