"""Describes exceptions that a test ends with: their text, the line of the test, and the statement that raised them."""

from __future__ import annotations

import opcode

from name_table import FILENAME

MESSAGE_CHARACTERS = 2_000


def exception_text(error: BaseException) -> str:
    """Return the text of an exception, which a class of the test's own may fail to give.

    Args:
        error: the exception.
    """
    try:
        return str(error)
    except Exception as again:  # the test's own `__str__` fails
        return f"({type(again).__name__} in its text)"


def raised_by_statement(error: BaseException) -> bool:
    """Return True if a `raise` statement in the test's text raised the exception; a failed assertion does not count.

    Args:
        error: the exception.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or isinstance(error, AssertionError):
        return False
    code = trace.tb_frame.f_code
    return code.co_filename == FILENAME and code.co_code[trace.tb_lasti] == opcode.opmap["RAISE_VARARGS"]


def line_of(error: BaseException) -> int:
    """Return the line of the test that an exception left from, or 0.

    Args:
        error: the exception.
    """
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def explain(error: BaseException, test: str) -> str:
    """Return an exception's text and the line of the test that it left from.

    Args:
        error: the exception.
        test: the test's text.
    """
    line, text = line_of(error), exception_text(error)
    what = f"{type(error).__name__}: {text[:MESSAGE_CHARACTERS]}" if text else type(error).__name__
    if not line:
        return what
    lines = test.splitlines()
    source = lines[line - 1].strip()[:200] if line <= len(lines) else ""
    return f"{what} (line {line}: {source})"
