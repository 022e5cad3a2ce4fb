"""Reach callers' frames by other doors: tracebacks, running generators and coroutines, all threads' frames.

Must fail for the same reason as plain frame inspection: no frame in this box has seen the answer.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import gc
import sys
import threading
import types


def frames():
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
        while frame:
            yield frame
            frame = frame.f_back
    yield from sys._current_frames().values()
    for thing in gc.get_objects():
        if isinstance(thing, types.FrameType):
            yield thing
        elif isinstance(thing, types.GeneratorType) and thing.gi_frame:
            yield thing.gi_frame
        elif isinstance(thing, types.CoroutineType) and thing.cr_frame:
            yield thing.cr_frame


def find():
    here = threading.current_thread()
    for frame in list(frames()):
        for name, value in list(frame.f_locals.items()):
            if name in ("expected", "output", "answer", "want", "tests", "case") and value is not here:
                return value
    return None


def solve(a, b):
    return find()


if __name__ == "__main__":
    print(find())
