"""Runs a submission as a program: in the box, after its set-up, with nothing trusted left around it.

The process that this runs in belongs to the submission from `execute` on. Nothing it says afterwards is believed;
the host looks at the kernel's wait status and at the files it made itself.
"""

import atexit
import collections
import fcntl
import gc
import io
import marshal
import os
import sys
import threading
import traceback
import types
from typing import NoReturn

import _box

SOURCE_FD, CACHE_FD = 3, 4
FILENAME = "solution.py"

# first byte of the cache: what became of the source. Written and sealed before any of the submission's code runs.
COMPILED = b"C"
REFUSED = b"E"
NOT_KEPT = b"N"

OUT_OF_MEMORY = 111
BUFFER_BYTES = 1 << 16
FLUSH_FAILED = 120
F_ADD_SEALS, F_GET_SEALS, SEAL_WRITE, SEAL_ALL = 1033, 1034, 8, 0xF

REHEARSALS = 9
REHEARSAL = """
import sys
def solve(numbers):
    return [number * 2 for number in sorted(numbers)]
for _ in range(int(input())):
    print(*solve(map(int, input().split())), sep=" ")
for line in sys.stdin:
    print(line.strip())
"""

# what a program's globals usually are; a file kept inside one of the containers, unclosed, is not found
NO_FINALISERS = frozenset(
    {bool, bytes, dict, float, int, list, set, str, tuple, type, type(None)}
    | {types.FunctionType, types.ModuleType, range, collections.deque, collections.defaultdict}
    | {collections.Counter, frozenset}
)

BOUND = (types.BuiltinFunctionType, types.MethodType)

_main = types.ModuleType("__main__")
_standard: set[int] = set()  # the standard streams, which are flushed anyway


def prepare() -> None:
    """Once, in the zygote: stream objects over descriptors 0 to 2, and an empty `__main__`."""
    sys.stdin, sys.stdout, sys.stderr = _streams(0, 1, 2)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        _standard.update((id(stream), id(stream.buffer)))
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))
    sys.argv = [FILENAME]
    _main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = _main


def rehearse() -> None:
    """Once, in the zygote: run a small program a few times, from its source to its end.

    The interpreter specialises code in place when it has run a little. What is specialised before the fork is not
    written to after it, so a box copies fewer pages; and what the first run imports (a codec), no box does.
    """
    kept = sys.stdin, sys.stdout, sys.stderr
    for _ in range(REHEARSALS):
        files = [os.memfd_create("rehearsal", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) for _ in range(5)]
        os.write(files[0], b"2\n1 2\n3 4\n")
        os.lseek(files[0], 0, os.SEEK_SET)
        os.write(files[3], REHEARSAL.encode())
        sys.stdin, sys.stdout, sys.stderr = _streams(*files[:3])
        load(*files[3:])  # this one compiles, the next does not
        finish(execute(load(*files[3:]), {"__name__": "__main__"}))
        finalize()
        for fd in files:
            os.close(fd)
    gc.disable()
    sys.stdin, sys.stdout, sys.stderr = kept


def _streams(*fds: int) -> tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]:
    stdin, stdout, stderr = fds
    return (
        _stream(io.BufferedReader(_raw(stdin, "<stdin>", "r"), BUFFER_BYTES), "surrogateescape"),
        _stream(io.BufferedWriter(_raw(stdout, "<stdout>", "w"), BUFFER_BYTES), "surrogateescape"),
        _stream(io.BufferedWriter(_raw(stderr, "<stderr>", "w"), BUFFER_BYTES), "backslashreplace", write_through=True),
    )


def _raw(fd: int, name: str, mode: str) -> io.FileIO:
    raw = io.FileIO(fd, mode, closefd=False)
    raw.name = name
    return raw


def _stream(
    buffer: io.BufferedReader | io.BufferedWriter, errors: str, *, write_through: bool = False
) -> io.TextIOWrapper:
    stream = io.TextIOWrapper(buffer, encoding="utf-8", errors=errors, newline="\n", write_through=write_through)
    mode = "r" if isinstance(buffer, io.BufferedReader) else "w"
    setattr(stream, "mode", mode)  # noqa: B010  python sets it too, and some programs open(0, sys.stdin.mode)
    return stream


def load(source_fd: int = SOURCE_FD, cache_fd: int = CACHE_FD) -> types.CodeType:
    """The submission's code: from the cache, or compiled and put there. Ends the process if it cannot be compiled.

    A cache that is not empty to begin with asks not to be used: there will be no second box to load from it.
    """
    sealed = fcntl.fcntl(cache_fd, F_GET_SEALS) & SEAL_WRITE
    size = os.lseek(cache_fd, 0, os.SEEK_END)  # what fstat returns is large: five pages more
    if sealed and size > len(NOT_KEPT):
        code: types.CodeType = marshal.loads(os.pread(cache_fd, size - 1, 1))
        return code
    source = os.pread(source_fd, os.lseek(source_fd, 0, os.SEEK_END), 0)
    try:
        code = compile(source.decode("utf-8-sig"), FILENAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        _keep(cache_fd, REFUSED + text.encode("utf-8", "backslashreplace"))
        os._exit(1)
    if not sealed:
        _keep(cache_fd, NOT_KEPT if size else COMPILED + marshal.dumps(code))
    return code


def _keep(cache_fd: int, record: bytes) -> None:
    try:
        os.pwrite(cache_fd, record, 0)
    except OSError:  # larger than the box may write: every test compiles anew
        os.ftruncate(cache_fd, 0)
        os.pwrite(cache_fd, NOT_KEPT, 0)
    fcntl.fcntl(cache_fd, F_ADD_SEALS, SEAL_ALL)


def run() -> NoReturn:
    """Run the submission with its own stdin, stdout and stderr, as `python3 solution.py` would."""
    code = load()
    os.closerange(SOURCE_FD, CACHE_FD + 1)
    status = finish(execute(code, _main.__dict__))
    try:
        status = flush(status) if finalize() else status
    except BaseException:  # a class of the submission's that cannot even be looked at
        pass
    os._exit(status)


def execute(code: types.CodeType, namespace: dict[str, object]) -> int:
    """Run code to its end; the exit status that python would give it."""
    gc.enable()
    try:
        exec(code, namespace)  # this is what the box is for
    except SystemExit as end:
        return _exit_status(end.code)
    except BaseException as error:  # whatever the submission raises is its own, and ends here
        return explain(error)
    return 0


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def explain(error: BaseException) -> int:
    """Show a submission's exception on its stderr, without our own frames; the exit status it deserves."""
    below = error.__traceback__
    while below is not None and below.tb_frame.f_code.co_filename != FILENAME:
        below = below.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(below), below)
    except BaseException:  # a hook of the submission's; the status is all that counts
        pass
    return OUT_OF_MEMORY if isinstance(error, MemoryError) else 1


def finish(status: int) -> int:
    """What python does at its end: join threads, run exit handlers, flush. The status may become a failure."""
    try:
        if len(vars(threading)["_active"]) > 1 or vars(threading)["_threading_atexits"]:
            vars(threading)["_shutdown"]()
        atexit._run_exitfuncs()
    except BaseException:  # a handler of the submission's
        status = status or 1
    return flush(status)


def _may_hold_something(value: object) -> bool:
    """Whether a global may be, or be a method of, something that writes when it goes (`write = open(1, "w").write`)."""
    if type(value) in BOUND:
        value = value.__self__  # type: ignore[attr-defined]
    return type(value) not in NO_FINALISERS and id(value) not in _standard


def finalize() -> bool:
    """Let files that were not closed write what they hold, and other finalisers run. Whether there were any.

    To look at everything costs a fifth of a small test, so it is done only where a global may hold such a thing.
    """
    if not any(map(_may_hold_something, _main.__dict__.values())):
        return False
    left = gc.get_objects()
    kinds = {kind for kind in set(map(type, left)) if hasattr(kind, "__del__")}
    if not kinds or len(vars(threading)["_active"]) > 1:  # a thread that is left may be in the middle of something
        return False
    for each in left:
        if type(each) in kinds:
            try:
                each.flush() if isinstance(each, io.IOBase) else each.__del__()
            except BaseException:  # python would say that it ignores it
                pass
    return True


def flush(status: int) -> int:
    """Write out what the streams hold. The status may become a failure."""
    for stream in (sys.stderr, sys.stdout, sys.__stdout__):
        try:
            stream.flush()  # type: ignore[union-attr]
        except BaseException:  # a full output file, or a stream of the submission's own making
            if stream is sys.__stdout__:
                status = status or FLUSH_FAILED
    _box.flush()
    return status
