"""Wants a second process, which is refused."""
import os

if os.fork() == 0:
    os._exit(0)
print("forked")
