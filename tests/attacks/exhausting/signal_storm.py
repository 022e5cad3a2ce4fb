"""Interrupt oneself a million times a second with timers of every clock.

Must end at the CPU or the wall limit, and disturb nobody.
"""
# proctor: {"test": ["stdin"], "expect": ["TLE", "RTE", "WA"], "outcome": "harmless"}
import signal
import time

for number, clock in ((signal.SIGALRM, signal.ITIMER_REAL), (signal.SIGVTALRM, signal.ITIMER_VIRTUAL), (signal.SIGPROF, signal.ITIMER_PROF)):
    signal.signal(number, lambda *args: None)
    signal.setitimer(clock, 1e-6, 1e-6)
while True:
    time.sleep(0.0001)
