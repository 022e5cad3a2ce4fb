"""Wait for things that never come: locks, signals, more input, an empty pipe, a condition.

Must be stopped by the wall clock.
"""
# proctor: {"test": ["stdin"], "expect": ["TLE", "RTE"], "outcome": "harmless"}
import os
import select
import signal
import threading

reader, writer = os.pipe()
waits = [
    threading.Lock(),
    threading.Condition(),
]
waits[0].acquire()
for wait in (
    lambda: waits[0].acquire(),
    lambda: os.read(reader, 1),
    lambda: select.select([reader], [], []),
    lambda: signal.sigwait(signal.valid_signals()),
    signal.pause,
):
    threading.Thread(target=wait).start()
waits[0].acquire()
