"""Take kernel memory that no process limit counts: full pipes, timers, watches, file locks, pending signals.

Must fail: the number of descriptors bounds it, and it goes with the process.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE", "MLE"], "outcome": "harmless"}
import ctypes
import fcntl
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
pipes = []
try:
    while len(pipes) < 20_000:
        reader, writer = os.pipe()
        pipes.append(writer)
        os.set_blocking(writer, False)
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass
        try:
            while True:
                os.write(writer, bytes(65536))
        except OSError:
            pass
except OSError:
    pass
if len(pipes) * 65536 >= 1 << 30:
    print("ESCAPED a gigabyte of kernel memory lies in pipes")
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
timer, count = ctypes.c_void_p(), 0
while count < 200_000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0:
    count += 1
if count >= 200_000:
    print("ESCAPED timers without a bound")
print("held", len(pipes), count)
