"""The forking side of `ForkLimit`: a script for the system's interpreter, which imports nothing of ours.

Two pipes, named by descriptor in argv. A request is `("runs", code, [stdin…])` or `("calls", code, [(function, args,
kwargs)…])`, the answer `[(wait status, stdout or JSON)…]`.
"""

import bisect  # noqa: F401  (these are what programs usually import)
import builtins
import collections  # noqa: F401
import copy  # noqa: F401
import datetime  # noqa: F401
import decimal  # noqa: F401
import fractions  # noqa: F401
import functools  # noqa: F401
import gc
import heapq  # noqa: F401
import itertools  # noqa: F401
import json
import marshal
import math  # noqa: F401
import operator  # noqa: F401
import os
import random  # noqa: F401
import re  # noqa: F401
import statistics  # noqa: F401
import string  # noqa: F401
import struct
import sys
import traceback
import typing
from types import CodeType

LENGTH = struct.Struct("<I")
Call = tuple[str, list[typing.Any], dict[str, typing.Any]]


def forked(work: typing.Callable[[], object], stdin: bytes) -> tuple[int, bytes]:
    """Run `work` in a child with `stdin` on descriptor 0; its wait status, and what it left on descriptor 1."""
    given, printed = os.memfd_create("stdin"), os.memfd_create("stdout")
    os.pwrite(given, stdin, 0)
    child = os.fork()
    if child == 0:
        os.dup2(given, 0)
        os.dup2(printed, 1)
        finish(work)
    _, status = os.waitpid(child, 0)
    output = os.pread(printed, os.fstat(printed).st_size, 0)
    os.close(given)
    os.close(printed)
    return status, output


def finish(work: typing.Callable[[], object]) -> typing.NoReturn:
    """Run, flush, and leave as an interpreter would, without taking it apart."""
    status = 0
    try:
        work()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001 - whatever a program raises
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)


def run(code: CodeType) -> dict[str, typing.Any]:
    """Run a program as `__main__`; its globals."""
    names: dict[str, typing.Any] = {"__name__": "__main__", "__builtins__": builtins}
    exec(code, names)
    return names


def call(code: CodeType, calls: list[Call]) -> None:
    """Load a program and print what its functions return."""
    names = run(code)
    json.dump([names[function](*args, **kwargs) for function, args, kwargs in calls], sys.stdout)


def answer(kind: str, source: str, items: list[typing.Any]) -> list[tuple[int, bytes]]:
    """One submission: compiled once, then a fork for every input, or one for all calls."""
    code = compile(source, "submission.py", "exec")
    if kind == "calls":
        return [forked(lambda: call(code, items), b"")]
    return [forked(lambda: run(code), stdin) for stdin in items]


def main() -> None:
    """Answer until the other side closes its pipe."""
    requests, answers = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
    gc.collect()
    gc.freeze()
    while head := requests.read(LENGTH.size):
        request = marshal.loads(requests.read(*LENGTH.unpack(head)))
        data = marshal.dumps(answer(*request))
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


main()
