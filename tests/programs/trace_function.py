"""Counts its own lines and calls with `sys.settrace` and `sys.setprofile`."""
# proctor: {"input": "", "output": "6 3\n"}
import sys

lines = calls = 0


def tracer(frame, event, argument):
    global lines
    lines += event == "line"
    return tracer


def profiler(frame, event, argument):
    global calls
    calls += event == "call" and frame.f_code.co_name == "f"


def f(x):
    y = x + 1
    return y


sys.settrace(tracer)
f(1), f(2), f(3)
sys.settrace(None)
sys.setprofile(profiler)
f(1), f(2), f(3)
sys.setprofile(None)
print(lines, calls)
