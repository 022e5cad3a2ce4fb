"""Runs a submission as a program, in the box, after its set-up.

The submission controls the process from `execute` on, and nothing that the process reports afterwards is believed; the
host reads the kernel's wait status and the files that it made itself.
"""

import builtins
import errno
import gc
import io
import marshal
import os
import sys
import traceback
import types
from os import closerange
from typing import Any, NoReturn

import _box
import computed_names
import descriptor_uses
import ending
from ending import end, program_globals  # by name: a box reads them once (see shared.py)

SOURCE_FD, CACHE_FD = 3, 4
FILENAME = "solution.py"
FOLDER = "/tmp"

# first byte of the cache: result of compiling the source. Written and sealed before any of the submission's code runs.
COMPILED = b"C"
REFUSED = b"E"
NOT_KEPT = b"N"

OUT_OF_MEMORY = 111
INTERRUPTED = 130
BUFFER_BYTES = 1 << 16
# the standard streams: descriptor, mode and name of the file; size of the buffer; encoding, errors, newline and line
# buffering of the text layer
FORMS = (
    (0, "r", "<stdin>", BUFFER_BYTES, "utf-8", "surrogateescape", "\n", False),
    (1, "w", "<stdout>", BUFFER_BYTES, "utf-8", "surrogateescape", "\n", False),
    (2, "w", "<stderr>", BUFFER_BYTES, "utf-8", "backslashreplace", "\n", True),
)

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

# needs of a source beyond being run; found when it is compiled, and stored in the cache's last byte
SEARCH, FILE, STRAY, COMPUTED = 1, 2, 4, 8

# a source without any of these words cannot observe whether its file exists
FILE_WORDS = f"""
    __file__ __loader__ argv excepthook glob inspect iterdir linecache listdir pdb scandir stderr traceback walk warn
    {FILENAME} {FILENAME.removesuffix(".py")}
"""

# groups of words of which a source needs one to have a need, and the bits of what _box.words_in finds of them
WORDS = (ending.FINALISER_WORDS, FILE_WORDS, descriptor_uses.NEEDED, computed_names.NEEDED)
NOT_ASCII = 1 << len(WORDS)
FINALISER, FILES, DESCRIPTORS, TEMPLATES = 1, 2, 4 | NOT_ASCII, 8 | NOT_ASCII


def prepare() -> None:
    """Create streams over descriptors 0 to 2 and set `sys` as for a program; called once, in the zygote."""
    open_streams()
    sys.argv = [FILENAME]
    sys.orig_argv = [sys.executable, FILENAME]
    sys.path.insert(0, FOLDER)
    ending.prepare()


def open_streams() -> None:
    """Set the standard streams of `sys` to new ones over descriptors 0 to 2."""
    set_streams(*(_stream(place, place) for place in range(3)))


def set_streams(stdin: Any, stdout: Any, stderr: Any) -> None:
    """Set the standard streams of `sys`, also those that are called the original ones.

    Args:
        stdin: stream, or None.
        stdout: stream, or None.
        stderr: stream, or None.
    """
    sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = stdin, stdout, stderr  # type: ignore[misc]


def make_main() -> None:
    """Create the `__main__` module; called in the zygote, after the freeze, so that the collector sees it."""
    path = f"{FOLDER}/{FILENAME}"
    main = types.ModuleType("__main__")
    main.__loader__ = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", path)
    vars(main).update(__builtins__=builtins, __file__=path, __cached__=None)
    ending.names.update(vars(main))
    vars(main)["__annotations__"] = {}
    sys.modules["__main__"] = ending.main = main


def rehearse() -> None:
    """Run a small program a few times, from its source to its end; called once, in the zygote.

    The interpreter specialises code in place after a few runs. Code that is specialised before the fork is not written
    to after it, so a box copies fewer pages; and a module that the first run imports (a codec) is imported before the
    fork.
    """
    kept = sys.stdin, sys.stdout, sys.stderr
    for _ in range(REHEARSALS):
        files = [os.memfd_create("rehearsal", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) for _ in range(5)]
        os.write(files[0], b"2\n1 2\n3 4\n")
        os.lseek(files[0], 0, os.SEEK_SET)
        os.write(files[3], REHEARSAL.encode())
        sys.stdin, sys.stdout, sys.stderr = (_stream(place, files[place]) for place in range(3))
        load(*files[3:])  # this one compiles, the next does not
        execute(load(*files[3:])[0], {"__name__": "__main__"})
        ending.prepare()
        ending.is_flushed(search=False)
        for fd in files:
            os.close(fd)
    gc.disable()
    sys.stdin, sys.stdout, sys.stderr = kept


def _stream(place: int, fd: int) -> io.TextIOWrapper:
    """Return a new stream over a descriptor, as the standard stream in this place is one: 0 to 2."""
    _, mode, name, *_ = form = FORMS[place]
    raw = io.FileIO(fd, mode, closefd=False)
    raw.name = name
    kind: Any = io.BufferedReader if mode == "r" else io.BufferedWriter
    stream = io.TextIOWrapper.__new__(io.TextIOWrapper)
    _box.begin_stream((stream, kind.__new__(kind), raw), form)
    return stream


def load(source_fd: int = SOURCE_FD, cache_fd: int = CACHE_FD) -> tuple[types.CodeType, int]:
    """Return the submission's code, from the cache or compiled and written to the cache.

    Ends the process if the source cannot be compiled. A cache that is not empty is left unused: no second box will load
    from it.

    Args:
        source_fd: file with the source.
        cache_fd: file for the compiled code.

    Returns:
        The code, and its needs (`SEARCH`, `FILE`, `STRAY`, `COMPUTED`).
    """
    record = _box.kept(cache_fd)
    if record:
        code: types.CodeType = marshal.loads(record)  # ignores the byte at the end
        return code, record[-1]
    try:
        text = _box.text_of(source_fd)
        code = compile(text, FILENAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        message = "".join(traceback.format_exception_only(error)).strip()
        _keep(cache_fd, REFUSED + message.encode("utf-8", "backslashreplace"))
        os._exit(1)
    needs = _needs(text)
    if record is None:
        _keep(cache_fd, COMPILED + marshal.dumps(code) + bytes([needs]))
    else:
        _box.keep(cache_fd, NOT_KEPT)
    return code, needs


def _needs(text: str) -> int:
    found = _box.words_in(text, WORDS)
    needs = 0
    if found & FINALISER:
        needs = SEARCH
    if found & FILES:
        needs |= FILE
    if found & DESCRIPTORS and descriptor_uses.strays(text):
        needs |= STRAY
    if found & TEMPLATES and computed_names.may_compute(text):
        needs |= COMPUTED
    return needs


def _keep(cache_fd: int, record: bytes) -> None:
    try:
        _box.keep(cache_fd, record)
    except OSError:  # larger than the box may write: every test compiles anew
        os.ftruncate(cache_fd, 0)
        _box.keep(cache_fd, NOT_KEPT)


def run() -> NoReturn:
    """Run the submission with its own stdin, stdout and stderr, as `python3 solution.py` would."""
    code, needs = load()
    if needs & FILE:
        show_source()
    closerange(SOURCE_FD, CACHE_FD + 1)
    end(execute(code, program_globals()), search=bool(needs & SEARCH))


def show_source() -> None:
    """Write the source to the path in `__file__`, unless the host found that it uses no file.

    The folder of such a box is read-only.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        file = os.open(f"{FOLDER}/{FILENAME}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return
    os.sendfile(file, SOURCE_FD, 0, os.lseek(SOURCE_FD, 0, os.SEEK_END))
    os.close(file)


def execute(code: types.CodeType, namespace: dict[str, object]) -> int:
    """Run code to its end.

    Args:
        code: the submission's code.
        namespace: its globals.

    Returns:
        The exit status that python would give it.
    """
    gc.enable()
    try:
        exec(code, namespace)  # the submission's code; the box contains it
    except SystemExit as error:
        ending.flush()
        return exit_status(error)
    except BaseException as error:  # any exception of the submission's
        return explain(error)
    return 0


def exit_status(error: SystemExit) -> int:
    """Return the status that python ends with; a code that is not a number is printed to stderr.

    Args:
        error: the exception.
    """
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        print(code, file=sys.stderr)
    except BaseException:  # raised by an object or a stream of the submission's
        pass
    return 1


def explain(error: BaseException) -> int:
    """Pass a submission's exception, without the guest's frames, to `sys.excepthook`.

    Args:
        error: the exception.

    Returns:
        The status that python ends with.
    """
    below = error.__traceback__
    ending.flush()
    while below is not None and below.tb_frame.f_code.co_filename != FILENAME:
        below = below.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, below
    try:
        sys.excepthook(type(error), error.with_traceback(below), below)
    except SystemExit as end:  # raised by a hook of the submission's
        return exit_status(end)
    except BaseException:  # raised by the hook, or there is none
        pass
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return OUT_OF_MEMORY if isinstance(error, MemoryError) else 1
