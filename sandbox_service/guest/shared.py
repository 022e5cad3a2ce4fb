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
from collections.abc import Callable, Iterator
from functools import partial
from os import _exit, closerange
from typing import NoReturn

import _box
import ending
import plain_programs
import program
from _box import begin_first, begin_next, keep_streams, next_test
from ending import end, is_flushed, program_globals
from plain_programs import COMPUTES, OPENS, uses_of
from program import COMPUTED, FILE, SEARCH, SOURCE_FD, STRAY, execute, load

# `run` has its names from here, since a box runs it once: code that was not rehearsed copies four pages for each
# attribute of a module that it reads

CHANNEL_FD = 5
REHEARSED = (1 << 64) - 1 - OPENS  # all modules and uses, but no files
ANEW = OPENS | plain_programs.RESTATES  # standard output must be as in a new process
MIDDLE, OLD = 1, 2  # generations of the collector


def prepare() -> None:
    """Record the state at the beginning of a test, and rehearse the reset between two; called once, in the zygote.

    See `program.rehearse` for the reason.
    """
    program.make_main()
    collector = gc.get_count, partial(gc.get_objects, OLD), partial(gc.collect, MIDDLE), gc.collect, gc.freeze
    bits = ANEW, plain_programs.OPENS, plain_programs.STDERR
    state = vars(sys), sys.modules, plain_programs.outer, ending.names, program.FORMS
    _box.set_first_state(*state, [*plain_programs.caches, *_limits()], list(_seeds()), collector, bits)
    code = compile(program.REHEARSAL, program.FILENAME, "exec")
    for _ in range(program.REHEARSALS):
        uses_of(code)
        _has_ended_well(search=False)
        begin_next(ending.main, ending.layers, REHEARSED, program.FOLDER, 0)
    program.set_streams(*(stream for stream, _, _ in ending.layers))
    gc.disable()


def _limits() -> Iterator[tuple[int, Callable[[], object]]]:
    """Yield what puts back the limits that a program can set, with the bit of their module."""
    bit = plain_programs.bit_of("sys")
    yield bit, partial(sys.setrecursionlimit, sys.getrecursionlimit())
    yield bit, partial(sys.set_int_max_str_digits, sys.get_int_max_str_digits())


def _seeds() -> Iterator[tuple[int, Callable[[], object]]]:
    """Yield what puts back the state of modules for the next test, with their bits."""
    if (random := sys.modules.get("random")) is not None:
        yield plain_programs.bit_of("random"), partial(random.seed, 0)
    if (decimal := sys.modules.get("decimal")) is not None:
        yield plain_programs.bit_of("decimal"), partial(decimal.setcontext, decimal.DefaultContext)


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
    begin_first()
    # called from here each time: a program can count the frames below its own
    status = execute(code, program_globals())
    while uses and status == 0 and _has_ended_well(search=search):
        if not _has_next(uses, folder_bytes):
            _exit(0)  # all output is flushed, and there is nothing to finalise
        status = execute(code, program_globals())
    end(status, search=search)


def _has_ended_well(*, search: bool) -> bool:
    """Flush the streams; return False if CPython must finalise the process, or if there is more than a flush to do."""
    try:
        return is_flushed(search=search)
    except BaseException:  # a closed stream, a full output file, a class that cannot be looked at
        return False


def _has_next(uses: int, folder_bytes: int) -> bool:
    """Wait for the next test and begin it; return False if there is none, or the last one's state cannot be removed."""
    try:
        has_next = next_test(bool(uses & ANEW))
        return has_next and begin_next(ending.main, ending.layers, uses, program.FOLDER, folder_bytes)
    except BaseException:  # no memory, or no descriptor
        return False
