"""Runs a judge program (a checker or an interactor) in a box of its own.

The submission never runs here: an output that has ended, or the other end of two pipes, is all that this box has of
it. The folder that the host passes holds the input, the answer and further files; what the judge leaves in its folder
`feedback` is read by the host when the box is dead. `order.json`, the host's, says what to run.

An exception that the judge does not catch ends the box with the status FAILED, which no protocol uses: a judge that
fails must not look like one that says "wrong", and Python itself would end with 1.
"""

import builtins
import json
import os
import sys
from typing import Any, NoReturn

import ending
import program

FOLDER_FD = 5
FAILED = 70
ENDED_EARLY = "the program ended while the interactor waited for a line"
MODULE = "__judge__"  # the name of a judge whose function is called: no file that it brings has it
LINE_CHARACTERS = 64 << 20  # a judge has room for such a line and its parts
TOO_LONG = f"the program wrote a line of more than {LINE_CHARACTERS} characters"


class NoLineError(EOFError):
    """The program has ended, or closed its output, where a line was expected, or its line is too long."""


def run() -> NoReturn:
    """Run the judge and end the process as it does."""
    order = json.loads(_read("order.json"))
    for name in order["links"]:
        os.symlink(f"/proc/self/fd/{FOLDER_FD}/{name}", f"{program.FOLDER}/{name}")
    code, _ = program.load()
    os.closerange(program.SOURCE_FD, program.CACHE_FD + 1)
    sys.argv = [order["main"], *order["arguments"]]
    main = ending.main.__dict__
    main["__file__"] = f"{program.FOLDER}/{order['main']}"
    if order["function"]:
        _call(order["function"], code, main, order["names"])
    ending.end(_execute(code, main), search=True)


def _read(name: str) -> bytes:
    fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=FOLDER_FD)
    try:
        return os.pread(fd, os.fstat(fd).st_size, 0)
    finally:
        os.close(fd)


def _execute(code: Any, main: dict[str, Any]) -> int:
    try:
        exec(code, main)
    except SystemExit as end:
        ending.flush()
        return program.exit_status(end) if end.code is None or isinstance(end.code, int) else _explain(end)
    except BaseException as error:  # whatever the judge raised
        return _explain(error)
    return 0


def _explain(error: BaseException) -> int:
    status = program.explain(error)
    return status if status == program.OUT_OF_MEMORY else FAILED


def _call(name: str, code: Any, main: dict[str, Any], names: list[str]) -> NoReturn:
    """Run the module, call its function, and write the result."""
    main["__name__"] = MODULE
    sys.modules[MODULE] = ending.main  # pickle and dataclasses look their classes up in it
    status = _execute(code, main)
    if status == 0:
        arguments: list[Any] = [_text(each) for each in names]
        if name == "interact":
            arguments[:0] = [_line, _say]
        try:
            if name not in main:
                raise NameError(f"the judge defines no function {name}")
            _report(main[name](*arguments))
        except NoLineError as error:
            _report((False, str(error)))
        except BaseException as error:  # whatever the judge raised
            status = _explain(error)
    ending.end_at_once(status)  # a thread that the judge left would run up to the wall-clock limit


def _text(name: str) -> str:
    return _read(name).decode("utf-8", "replace")


def _line() -> str:
    """Return the program's next line, without its end."""
    line = sys.stdin.readline(LINE_CHARACTERS + 1)
    if not line:
        raise NoLineError(ENDED_EARLY)
    if len(line) > LINE_CHARACTERS and line[-1] != "\n":  # its rest would be taken for the next line
        raise NoLineError(TOO_LONG)
    return line.rstrip("\r\n")


def _say(*values: object) -> None:
    """Send a line to the program."""
    builtins.print(*values, flush=True)


def _report(returned: Any) -> None:
    verdict, message = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, "")
    with open(f"{program.FOLDER}/feedback/report.json", "w") as file:
        json.dump({"verdict": _plain(verdict), "message": str(message)[:4000]}, file)


def _plain(verdict: Any) -> bool | int | float | str:
    """Return a verdict as JSON has it: scalars of numpy, fractions and members of enumerations become plain values."""
    if type(verdict).__module__ == "numpy":
        verdict = verdict.item()
    if isinstance(verdict, bool):
        return verdict
    if isinstance(verdict, int):
        return int(verdict)
    if isinstance(verdict, str):
        return str.__str__(verdict)
    if not hasattr(verdict, "__float__"):
        raise TypeError(f"the judge returned {type(verdict).__name__}, not a bool, a number or (verdict, message)")
    return float(verdict)
