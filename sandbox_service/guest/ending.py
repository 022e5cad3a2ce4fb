"""Ends a submission's process as CPython ends one.

A full finalisation of the interpreter costs several times as much as a small program. `end` therefore first looks for
anything that a finalisation could affect: a replaced standard stream, a thread, an exit handler, an object with a
finaliser. If there is none, flushing stdout and exiting at once has the same effect. Otherwise `end` raises SystemExit
through the zygote's frames, and CPython finalises itself.

Nothing here defends against the submission, which controls this process.
"""

import _thread
import atexit
import gc
import io
import sys
import threading
import types
from os import _exit  # by name: a box reads it once (see shared.py)
from typing import Any, NoReturn, TextIO

import _box

# Words that a source needs to create a thread, an exit handler, or an object that may act when it is freed: one with a
# finaliser, a file, of which `close` is called, a generator, which may catch its end, or which calls `close` of what it
# delegates to. One string, as thirty would lie on as many pages.
FINALISER_WORDS = """
    __del__ open TextIOWrapper Buffered FileIO IOBase close yield await __exit__ contextmanager tempfile
    thread futures atexit finalize weakref logging asyncio multiprocessing sched
    exec eval __import__ importlib runpy
"""

_PLAIN = frozenset(
    {bool, bytes, complex, dict, float, frozenset, int, list, range, set, str, tuple, type, type(None)}
    | {types.BuiltinFunctionType, types.FunctionType, types.ModuleType, type(__spec__.loader)}
)
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE, of the classes that a program makes
_METHODS = (types.BuiltinFunctionType, types.MethodType)
_FILES = (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO)
_HARMLESS = (io.BytesIO, io.StringIO)

Layers = tuple[Any, Any, Any]  # of a standard stream: text, buffer, file

main = types.ModuleType("__main__")  # the program's
names: dict[str, Any] = {}  # its namespace before the program runs, without the annotations, which the program changes
layers: tuple[Layers, ...] = ()  # of the standard streams
_sys = vars(sys)
_streams: tuple[TextIO, TextIO] = sys.stdout, sys.stderr
_standard: set[int] = set()  # the standard streams, their buffers and files
_handlers = 0


def prepare() -> None:
    """Record a program's initial state; called in the zygote, after the standard streams were created."""
    global layers, _streams, _handlers
    _streams, _handlers = (sys.stdout, sys.stderr), atexit._ncallbacks()
    standard: Any = sys.stdin, sys.stdout, sys.stderr
    layers = tuple((stream, stream.buffer, stream.buffer.raw) for stream in standard)
    _box.set_print(_sys, sys.stdout)
    _box.set_input(_sys, sys.stdin, sys.stdout, sys.stderr)
    _standard.clear()
    _standard.update(id(layer) for each in layers for layer in each)


def program_globals() -> dict[str, Any]:
    """Return the program's globals."""
    return main.__dict__


def end(status: int, *, search: bool) -> NoReturn:
    """End a program's process with this status, or with 120 where CPython does.

    Args:
        status: exit status.
        search: the source may need it (see FINALISER_WORDS).
    """
    try:
        if is_flushed(search=search):
            _exit(status)
    except BaseException:  # a closed stream, a full output file, a class that cannot be looked at: CPython decides
        pass
    _finalise(status)


def end_calls(status: int, *, search: bool) -> NoReturn:
    """End a process whose functions were called; output of finalisers is ignored there.

    Args:
        status: exit status.
        search: the source may need it (see FINALISER_WORDS).
    """
    try:
        if _has_its_streams() and not (search and _has_threads_or_handlers()):
            _flush_all()
            _exit(status)
    except BaseException:  # as above
        pass
    _finalise(status)


def end_at_once(status: int) -> NoReturn:
    """End a process whose result is known: no thread, exit handler or finaliser can change it.

    Args:
        status: exit status.
    """
    flush()
    _exit(status)


def is_flushed(*, search: bool) -> bool:
    """Flush the streams of a program that has ended, unless CPython must finalise its process.

    Args:
        search: the source may need it (see FINALISER_WORDS).

    Returns:
        False if CPython must finalise it: a standard stream was replaced, or there is a thread, an exit handler, or an
        object with a finaliser that may print.
    """
    if not search and _box.end_plainly(_sys, _streams, main.__dict__, _PLAIN):
        return True
    if not _has_its_streams() or _needs_finalisation(search=search):
        return False
    _flush_all()
    return True


def _flush_all() -> None:
    """Flush the original streams and those of the C library. Raises the exceptions of a flush."""
    for stream in _streams:
        stream.flush()
    _box.flush()


def _finalise(status: int) -> NoReturn:
    """Let CPython finalise. Only it may hold the standard streams and the program's globals, which act when freed."""
    global layers, _streams, main
    flush()
    del layers, _streams, main
    raise SystemExit(status)


def flush() -> None:
    """Flush the standard streams, as CPython does after a program's last line."""
    for name in ("stderr", "stdout"):
        try:
            getattr(sys, name).flush()
        except BaseException:  # CPython ignores it here
            pass


def _has_its_streams() -> bool:
    return sys.stdout is _streams[0] is sys.__stdout__ and sys.stderr is _streams[1]


def _needs_finalisation(*, search: bool) -> bool:
    if not search and not any(map(_is_unusual, main.__dict__.values())):
        return False
    return _has_threads_or_handlers() or any(map(_has_finaliser, gc.get_objects()))


def _has_threads_or_handlers() -> bool:
    """Return True if there is a second thread, or a function registered to run at exit."""
    return bool(_thread._count() or atexit._ncallbacks() != _handlers or vars(threading)["_threading_atexits"])


def _is_unusual(value: object) -> bool:
    """Return True for a global that may be an object with a finaliser, or a method of one."""
    if type(value) in _METHODS:
        value = value.__self__  # type: ignore[attr-defined]
    return type(value) not in _PLAIN and id(value) not in _standard


def _has_finaliser(value: Any) -> bool:
    kind = type(value)
    if isinstance(value, type) and "__del__" in value.__dict__ and value.__module__ == "__main__":
        return True  # the collector does not know all of its objects
    if kind in _PLAIN or not hasattr(kind, "__del__") or kind in _HARMLESS or id(value) in _standard:
        return False
    if kind is types.GeneratorType:
        return _would_be_closed(value)
    if kind in _FILES:
        return not value.closed and value.writable()
    return True


def _would_be_closed(generator: Any) -> bool:
    """Return True for a generator that has begun, has not ended, and may run code when it is closed."""
    frame = generator.gi_frame
    if frame is None or frame.f_lasti <= 0:
        return False
    return bool(generator.gi_code.co_exceptiontable) or bool(type(generator.gi_yieldfrom).__flags__ & _HEAP)
