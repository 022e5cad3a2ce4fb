"""Runs the stdin tests of a submission one after the other in one box, as long as that cannot change a verdict.

The first test is a run like any other: a program that cannot be shared ends after it as program.py ends it. After a
test that ended well, this module tells the host, which reads the output and either fills the box's files anew or closes
the channel. Then this module puts the process back.

Each test has new streams (but stderr, where the program does not name it), a new `__main__`, the random state, the
decimal context and the limits that the first one had. What is not put back must not have changed: a program that is not
plain (plain_programs.py), or a test that leaves a stream replaced, a thread, a handler at exit, a finaliser, a file, a
descriptor, a module or a changed attribute, ends the box after its test.

Modules lead to others: statistics draws random numbers. So what is put back and compared includes the modules that the
imported ones use, to any depth. All other modules are left alone: a look at them would copy pages of the zygote's.

Nothing here defends against the submission, which controls this process. The host believes outputs that it compared
itself, and repeats everything else in a fresh box. No expected output is ever here.
"""

import gc
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import _box
import ending
import plain_programs
import program

CHANNEL_FD = 5
ALL = -1  # modules


_recursion = _digits = 0
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
    streams = sys.stdin, sys.stdout, sys.stderr
    main, code = ending.main, compile(program.REHEARSAL, program.FILENAME, "exec")
    for _ in range(program.REHEARSALS):
        uses = plain_programs.uses_of(code)
        _has_ended_well(search=False)
        stderr = _forget(uses, ALL)
        _box.is_unchanged(plain_programs.reached_by(uses))
        _begin(stderr, ALL)
    _forget(plain_programs.STDERR, ALL)
    ending.main = main
    program.set_streams(*streams)
    ending.prepare()
    gc.disable()


def run() -> NoReturn:
    """Run the submission on the box's stdin, then on those that the host sends, and end like the last run."""
    code, needs = program.load()
    uses = plain_programs.uses_of(code)
    search = bool(needs & program.SEARCH)
    for need, use in ((program.STRAY, plain_programs.OPENS), (program.COMPUTED, plain_programs.COMPUTES)):
        if needs & need and uses & use:
            uses = 0
    if needs & program.FILE:
        program.show_source()
        if uses & plain_programs.OPENS:  # it could change the file
            uses = 0
    if uses:
        _box.keep_streams(CHANNEL_FD)
    os.closerange(program.SOURCE_FD, CHANNEL_FD + 1)
    folder_bytes = _box.folder_bytes(program.FOLDER)  # of a tmpfs: grows with each name in it
    # called from here each time: a program can count the frames below its own
    status = program.execute(code, ending.main.__dict__)
    while uses and status == 0 and _has_ended_well(search=search):
        if not _box.next_test() or not _has_begun_next(uses, folder_bytes):
            os._exit(0)  # all output is flushed, and there is nothing to finalise
        status = program.execute(code, ending.main.__dict__)
    ending.end(status, search=search)


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
        stderr = _forget(uses, reached)
        opens = bool(uses & plain_programs.OPENS)
        if (opens and _box.folder_bytes(program.FOLDER) != folder_bytes) or not _box.is_unchanged(reached):
            return False
        if not _box.put_streams_back(opens):
            return False
        _begin(stderr, reached)
    except BaseException:  # no memory, or no descriptor
        return False
    return True


def _forget(uses: int, reached: int) -> Any:
    """Restore the state that the last test may have changed, and free its objects; return the next one's stderr."""
    stderr = None if uses & plain_programs.STDERR else sys.stderr
    namespace = ending.main.__dict__
    sys.modules["__main__"] = ending.main = plain_programs.outer
    program.set_streams(None, None, None)
    ending.forget_streams()
    namespace.clear()
    plain_programs.clear_caches(reached)
    sys.setrecursionlimit(_recursion)
    sys.set_int_max_str_digits(_digits)
    gc.collect()
    return stderr


def _begin(stderr: Any, reached: int) -> None:
    """Set up the next test's own streams and state. Its descriptors are in place."""
    program.open_streams(stderr)
    ending.prepare()
    program.make_main()
    for bit, put_back in _putting_back:
        if reached & bit:
            put_back()
