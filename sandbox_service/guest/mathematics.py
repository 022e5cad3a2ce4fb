"""Compares a mathematical answer with the expected ones: two boxes, of which only the one that nobody trusts reads it.

The reader has the candidate's text and nothing else. It turns it into a tree of plain data (`trees.py`), and that is
all that leaves its box: whoever takes the reader over can say no more than with an answer in so many words. The
referee has the expected answers, decodes that tree as it would any stranger's, and alone writes the report. It never
sees the text.

Only a zygote of the kind `mathematics` imports this: sympy takes half a second, and makes every fork dearer.
"""

import json
import os
import signal
from typing import Any, NoReturn

import answers
import equality
import pair
from program import CACHE_FD, SOURCE_FD
from sympy.polys.polyerrors import BasePolynomialError

# what sympy raises of kinds that do not compare: a set and a number, say
INCOMPARABLE = (
    ArithmeticError, AttributeError, BasePolynomialError, NotImplementedError, RecursionError, TypeError, ValueError
)  # fmt: skip

READ_SECONDS = 2.0  # of CPU time, for a candidate's text
EXPECTED_SECONDS = 3.0  # for the expected answers
COMPARE_SECONDS = 3.0
MOST_TREE_BYTES = 1 << 19
REPORT_BYTES = 4096

REHEARSAL = (
    r"\frac{1}{2}", "0.5", "1,234", "(3,5)", "[3,5)", r"\{3,5\}", r"1\pm\sqrt{2}", "x=5", r"(-\infty,2)\cup(3,\infty)",
    "x^2+2x+1", r"\binom{10}{3}", r"\sqrt[3]{2}", r"1.2\times10^{-3}", r"\sin 30^\circ", r"\log_2 8+\ln 3+|x|",
    r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "2+3i", r"e^{i\pi}", "x<3", r"1<x\le 2", "100!", r"\frac{\pi}{4}",
    "a+b/c", "f(x)=x+1", r"\lfloor 2.5\rfloor", "(1,2,3)", "3x+2y=7", r"\text{red},\text{blue}", r"-\frac{1}{2}",
    r"2\sqrt{3}", r"\frac{2\sqrt{3}-1}{3}", r"2^{10}-1", "x(x-1)(x+2)", "((((x+1))))", "((((1))))", r"(\frac{1}{2},-3)",
    "1,2,3", r"-1<x\le 2", r"x\in[1,2]", r"\frac{a^2+b^2}{2ab}", r"5\cdot 10^{-3}", r"y=2x+1", r"[-1,1]\cup\{3\}",
)  # fmt: skip


def rehearse() -> None:
    """Once, in the zygote: what the grammar learns on its way, and what sympy imports only when it is needed."""
    for text in REHEARSAL:
        value = equality.Value(answers.read(text))
        for other in (r"\frac{1}{3}", r"\sqrt{2}+x", text):
            equality.difference(value, equality.Value(answers.read(other)))
    for one, other in (("2x<4", "x<2"), ("[1,2]", r"1\le x\le 2"), ("2x+2y=6", "x+y=3"), (r"\{1,2\}", "2,1")):
        equality.difference(equality.Value(answers.read(one)), equality.Value(answers.read(other)))


def run_reader() -> NoReturn:
    """Read the candidate's text, hand over what it says, or why it says nothing."""
    text = os.pread(SOURCE_FD, os.fstat(SOURCE_FD).st_size, 0).decode("utf-8", "replace")
    os.closerange(SOURCE_FD, CACHE_FD + 1)
    _limit(READ_SECONDS, lambda: _hand_over({"unreadable": "it took too long to read"}))
    try:
        said: dict[str, Any] = answers.read(text)
    except answers.Unreadable as error:
        said = {"unreadable": str(error)}
    except MemoryError:
        said = {"unreadable": "it took too much memory to read"}
    except ImportError as error:
        said = {"fault": str(error)}
    _hand_over(said)


def _hand_over(said: dict[str, Any]) -> NoReturn:
    with open(pair.CANDIDATE_OUT_FD, "wb") as out:
        out.write(json.dumps(said).encode())
    os._exit(0)


def run_referee() -> NoReturn:
    """Read the expected answers, then what the reader says, and report whether they are the same."""
    test = json.loads(os.pread(pair.TEST_FD, os.fstat(pair.TEST_FD).st_size, 0))
    os.close(pair.TEST_FD)
    _limit(EXPECTED_SECONDS, lambda: os._exit(0))
    _report("bad_test", "an expected answer took too long, or too much, to read")
    expected = [_expected(text) for text in test["expected"]]
    _report("gone", "")
    _limit(COMPARE_SECONDS, lambda: os._exit(0))
    got = _received()
    _report("failed", "the answer took too long, or too much, to compare")
    _report(*_verdict(expected, got, test["tolerance"]))
    os._exit(0)


def _expected(text: str) -> equality.Value:
    try:
        value = equality.Value(answers.read(text))
    except MemoryError:
        os._exit(0)
    except ImportError as error:
        _fault(error)
    except Exception as error:  # whatever there is about it, the test is at fault
        _report("bad_test", f"the expected answer {text[:80]!r} cannot be used: {str(error)[:200]}")
        os._exit(0)
    if equality.difference(value, value) is not None:
        _report("bad_test", f"the expected answer {text[:80]!r} cannot be used: it is not equal to itself")
        os._exit(0)
    return value


def _received() -> dict[str, Any]:
    """What the reader says. Ends the process if it says nothing that can be understood."""
    with open(pair.TESTER_IN_FD, "rb") as source:
        message = source.read(MOST_TREE_BYTES + 1)
    try:
        said = json.loads(message) if len(message) <= MOST_TREE_BYTES else None
    except (ValueError, RecursionError):
        os._exit(0)
    if type(said) is not dict:
        os._exit(0)
    return said


def _verdict(
    expected: list[equality.Value], said: dict[str, Any], tolerance: equality.Tolerance | None
) -> tuple[str, str]:
    if "fault" in said:
        return "fault", str(said["fault"])[:300]
    if "unreadable" in said:
        return "failed", f"the answer cannot be read: {str(said['unreadable'])[:200]}"
    try:
        got = equality.Value(said)
    except ImportError as error:
        _fault(error)
    except MemoryError:
        return "failed", "the answer took too much memory to compare"
    except Exception as error:  # a tree that is none: the candidate's own
        return "failed", f"the answer cannot be read: {str(error)[:200]}"
    reasons = [_difference(each, got, tolerance) for each in expected]
    return ("passed", "") if None in reasons else ("failed", f"not the expected answer: {reasons[0]}")


def _difference(expected: equality.Value, got: equality.Value, tolerance: equality.Tolerance | None) -> str | None:
    try:
        return equality.difference(expected, got, tolerance)
    except ImportError as error:
        _fault(error)
    except MemoryError:
        return "too much memory was needed to compare"
    except INCOMPARABLE as error:
        return f"the two cannot be compared ({type(error).__name__})"
    except Exception as error:  # nobody thought of it: that is no statement about the answer
        _fault(error)


def _fault(error: Exception) -> NoReturn:
    """Something that nobody thought of beforehand, such as a part of sympy that a box cannot import."""
    _report("fault", f"{type(error).__name__}: {error}"[:300])
    os._exit(0)


def _report(result: str, message: str) -> None:
    """Say how it went so far; whatever ends this process leaves the last word that was said."""
    report = json.dumps({"result": result, "message": message}).encode()
    os.pwrite(pair.REPORT_FD, report.ljust(REPORT_BYTES), 0)  # at once, and over all of the last one


def _limit(seconds: float, end: Any) -> None:
    """Call `end` when so much more CPU time is used: however busy the machine is, that takes nothing from an answer."""
    signal.signal(signal.SIGPROF, lambda *_: end())
    signal.setitimer(signal.ITIMER_PROF, seconds)
