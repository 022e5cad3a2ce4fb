"""The candidate process of an assert test: loads the submission, then serves the tester's requests.

The submission controls this process from its first line on, including this module. Nothing here is a defence; the
tester checks everything that arrives. The code is written for honest programs: values are sent by exact type; objects
that are not data (functions, classes, generators, instances of the submission's own classes) stay here and are sent as
numbered handles; changes of a call's arguments are sent back with its result.

Not sent back: changes of an argument after its call, changes of numpy arrays, and changes of a callback's arguments.
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import operations
from channel import Channel
from codec import to_text
from dispatcher import Dispatcher
from error_codec import describe_error
from prelude import run_prelude

LOAD_FAILED = 1


def serve(read_fd: int, write_fd: int, program: types.CodeType, prelude: types.CodeType | str | None) -> int:
    """Run the prelude, run the program as a module, and serve requests until the tester closes the pipe.

    Args:
        read_fd: pipe to read requests from.
        write_fd: pipe to write replies to.
        program: the submission's code.
        prelude: code, its source, the name of the built-in one (`@leetcode`), or None.

    Returns:
        The exit status.
    """
    namespace = sys.modules["__main__"].__dict__
    channel = Channel(read_fd, write_fd)
    try:
        classes = run_prelude(prelude, namespace)
        operations.name_as_module(namespace)
        _load(program, namespace)
    except BaseException as error:
        with contextlib.suppress(OSError):
            channel.send("load", to_text([describe_error(error)]))
        return LOAD_FAILED
    classes.use_program_classes(namespace)
    with contextlib.suppress(EOFError, OSError):
        Dispatcher(channel, classes, namespace).serve_requests()
    return 0


def _load(program: types.CodeType, namespace: dict[str, Any]) -> None:
    """Run the program. A program that exits by `sys.exit(0)` counts as loaded, as in call tests."""
    try:
        exec(program, namespace)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
