"""Runs the stdin tests of a submission one after the other in one box, as long as that cannot change a verdict.

The first test is a run like any other: a program that cannot be shared ends after it as program.py ends it. After a
test that ended well, this module tells the host, which reads the output and either fills the box's files anew or closes
the channel. Then this module puts the process back.

Each test has the streams and the namespace of `__main__` in their first state (stderr only where the program names it),
the random state, the decimal context and the limits that the first one had. What is not put back must not have changed:
a program that is not plain (plain_programs.py), or a test that leaves a stream replaced, a thread, a handler at exit, a
finaliser, a file, a descriptor, a module or a changed attribute, ends the box after its test.

Modules lead to others: statistics draws random numbers. So what is put back and compared includes the modules that the
imported ones use, to any depth. All other modules are left alone: a look at them would copy pages of the zygote's.

Nothing here defends against the submission, which controls this process. The host believes outputs that it compared
itself, and repeats everything else in a fresh box. No expected output is ever here.
"""

import gc
import sys
from collections.abc import Callable
from os import _exit, closerange
from typing import NoReturn

import _box
import ending
import plain_programs
import program
from _box import keep_streams, next_test
from ending import end, program_globals
from plain_programs import COMPUTES, OPENS, uses_of
from program import COMPUTED, FILE, SEARCH, SOURCE_FD, STRAY, execute, load

# `run` has its names from here, since a box runs it once: code that was not rehearsed copies four pages for each
# attribute of a module that it reads

CHANNEL_FD = 5
ALL = -1  # modules
MIDDLE, OLD = 1, 2  # generations of the collector


_recursion = _digits = 0
_young = 0  # objects that the collector has not seen, when a test begins, without those that end with its namespace
_putting_back: list[tuple[int, Callable[[], object]]] = []  # the bit of a module, and what puts its state back


def prepare() -> None:
    """Record the state at the beginning of a test, and rehearse the reset between two; called once, in the zygote.

    See `program.rehearse` for the reason.
    """
    global _recursion, _digits
    if (random := sys.modules.get("random")) is not None:
        seed = random.seed
        _putting_back.append((plain_programs.bit_of("random"), lambda: seed(0)))
    if (decimal := sys.modules.get("decimal")) is not None:
        context, set_context = decimal.DefaultContext, decimal.setcontext
        _putting_back.append((plain_programs.bit_of("decimal"), lambda: set_context(context)))
    _recursion, _digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    program.make_main()
    code = compile(program.REHEARSAL, program.FILENAME, "exec")
    for _ in range(program.REHEARSALS):
        uses = plain_programs.uses_of(code)
        _has_ended_well(search=False)
        _has_begun_next(uses | plain_programs.STDERR, 0)
        _begin(uses, ALL)
    _forget(ALL)
    program.set_streams(*(stream for stream, _, _ in ending.layers))
    ending.prepare()
    gc.disable()


def run() -> NoReturn:
    """Run the submission on the box's stdin, then on those that the host sends, and end like the last run."""
    code, needs = load()
    uses = uses_of(code)
    search = bool(needs & SEARCH)
    if (needs & STRAY and uses & OPENS) or (needs & COMPUTED and uses & COMPUTES):
        uses = 0
    if needs & FILE:
        program.show_source()
        if uses & OPENS:  # it could change the file
            uses = 0
    if uses:
        keep_streams(CHANNEL_FD)
    closerange(SOURCE_FD, CHANNEL_FD + 1)
    folder_bytes = _box.folder_bytes(program.FOLDER) if uses & OPENS else 0
    _count()
    # called from here each time: a program can count the frames below its own
    status = execute(code, program_globals())
    while uses and status == 0 and _has_ended_well(search=search):
        if not next_test() or not _has_begun_next(uses, folder_bytes):
            _exit(0)  # all output is flushed, and there is nothing to finalise
        status = execute(code, program_globals())
    end(status, search=search)


def _has_ended_well(*, search: bool) -> bool:
    """Flush the streams; return False if CPython must finalise the process, or if there is more than a flush to do."""
    try:
        if not ending.has_its_streams() or ending.needs_finalisation(search=search):
            return False
        ending.flush_all()
    except BaseException:  # a closed stream, a full output file, a class that cannot be looked at
        return False
    return True


def _has_begun_next(uses: int, folder_bytes: int) -> bool:
    """Remove the last test's state and begin the next one; return False if a part of it cannot be restored."""
    try:
        reached = plain_programs.reached_by(uses)
        _forget(reached)
        if not _is_as_found(uses, reached, folder_bytes):
            return False
        _begin(uses, reached)
    except BaseException:  # no memory, or no descriptor
        return False
    return True


def _forget(reached: int) -> None:
    """Restore the state that the last test may have changed, and free its objects."""
    sys.modules["__main__"] = plain_programs.outer
    program.set_streams(None, None, None)
    program_globals().clear()
    plain_programs.clear_caches(reached)
    sys.setrecursionlimit(_recursion)
    sys.set_int_max_str_digits(_digits)
    _free_garbage()


def _free_garbage() -> None:
    """Free what the last test left for the collector.

    It left nothing if there are no more objects than before it, and the collector has not run. All that it made is in
    the first two generations, as long as the third one is empty. Without that one, the interpreter keeps its free
    lists, of which a test with thousands of tuples makes many.
    """
    young, middle, _ = gc.get_count()
    has_old = bool(gc.get_objects(generation=OLD))
    if young > _young or middle or has_old:
        gc.collect(OLD if has_old else MIDDLE)
        gc.freeze()  # what is left is not the test's; the third generation is empty again


def _is_as_found(uses: int, reached: int, folder_bytes: int) -> bool:
    """Put the descriptors back; return False if the last test left a file, a descriptor, or a change in a module."""
    if program_globals():  # the end of an object has set a global
        return False
    # a program that cannot open a file cannot close a descriptor either: its streams leave theirs open
    if uses & OPENS and (_box.folder_bytes(program.FOLDER) != folder_bytes or not _box.put_streams_back()):
        return False
    return _box.is_unchanged(reached)


def _begin(uses: int, reached: int) -> None:
    """Set up the next test's streams and state. Its descriptors are in place."""
    stdin, stdout, stderr = ending.layers
    program.begin_stream(0, stdin)
    if uses & (OPENS | plain_programs.RESTATES):
        program.begin_stream(1, stdout)
    else:  # it was only written to, and is flushed: the program could not tell it from a new one
        program.clear_attributes(1, stdout)
    if uses & plain_programs.STDERR:
        program.begin_stream(2, stderr)
    program.set_streams(stdin[0], stdout[0], stderr[0])
    program_globals().update(ending.names, __annotations__={})
    sys.modules["__main__"] = ending.main
    for bit, put_back in _putting_back:
        if reached & bit:
            put_back()
    _count()


def _count() -> None:
    """Count what the collector would look at, when a test begins."""
    global _young
    _young = gc.get_count()[0] - 1  # the annotations
