"""Sends itself a signal for which it has a handler."""
# proctor: {"input": "", "output": "caught SIGUSR1\n"}
import os
import signal

signal.signal(signal.SIGUSR1, lambda number, frame: print("caught", signal.Signals(number).name))
os.kill(os.getpid(), signal.SIGUSR1)
