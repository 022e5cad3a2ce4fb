"""Compares a mathematical answer with the expected ones, in two boxes: the reader parses it, the referee compares.

The reader has the candidate's text and nothing else. It turns the text into a tree of plain data (`trees`), which is
all that leaves its box: taking over the reader allows no more than writing another answer. The referee has the expected
answers, decodes the tree as untrusted input, and alone writes the report. It never sees the text.

Only a zygote of the kind `mathematics` imports this module: sympy takes half a second to import, and slows down every
fork.
"""

import json
import os
import signal
from typing import Any, NoReturn

import equality
import latex_answers
import two_boxes
from latex_grammar import UnreadableError
from program import CACHE_FD, SOURCE_FD
from sympy.polys.polyerrors import BasePolynomialError

# exceptions of sympy for values that do not compare, such as a set and a number
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
    r"\pi\approx 3.14", "x=2+3=5",
    "1,2,3", r"-1<x\le 2", r"x\in[1,2]", r"\frac{a^2+b^2}{2ab}", r"5\cdot 10^{-3}", r"y=2x+1", r"[-1,1]\cup\{3\}",
)  # fmt: skip


def rehearse() -> None:
    """Fill the grammar's caches and trigger sympy's lazy imports; called once, in the zygote."""
    for text in REHEARSAL:
        value = equality.Value(latex_answers.read(text))
        for other in (r"\frac{1}{3}", r"\sqrt{2}+x", text):
            equality.difference(value, equality.Value(latex_answers.read(other)))
    for one, other in (("2x<4", "x<2"), ("[1,2]", r"1\le x\le 2"), ("2x+2y=6", "x+y=3"), (r"\{1,2\}", "2,1")):
        equality.difference(equality.Value(latex_answers.read(one)), equality.Value(latex_answers.read(other)))


def run_reader() -> NoReturn:
    """Parse the candidate's text and send the tree, or the reason why it cannot be read."""
    text = os.pread(SOURCE_FD, os.fstat(SOURCE_FD).st_size, 0).decode("utf-8", "replace")
    os.closerange(SOURCE_FD, CACHE_FD + 1)
    _limit(READ_SECONDS, lambda: _send({"unreadable": "reading took too long"}))
    try:
        answer: dict[str, Any] = latex_answers.read(text)
    except UnreadableError as error:
        answer = {"unreadable": str(error)}
    except MemoryError:
        answer = {"unreadable": "reading took too much memory"}
    except ImportError as error:
        answer = {"fault": str(error)}
    _send(answer)


def _send(answer: dict[str, Any]) -> NoReturn:
    with open(two_boxes.CANDIDATE_OUT_FD, "wb") as out:
        out.write(json.dumps(answer).encode())
    os._exit(0)


def run_referee() -> NoReturn:
    """Parse the expected answers, receive the reader's tree, and report whether they are equal."""
    test = json.loads(os.pread(two_boxes.TEST_FD, os.fstat(two_boxes.TEST_FD).st_size, 0))
    os.close(two_boxes.TEST_FD)
    _limit(EXPECTED_SECONDS, lambda: os._exit(0))
    _report("bad_test", "reading an expected answer took too much time or memory")
    expected = [_expected(text) for text in test["expected"]]
    _report("gone", "")
    _limit(COMPARE_SECONDS, lambda: os._exit(0))
    got = _received()
    _report("failed", "comparing the answer took too much time or memory")
    _report(*_verdict(expected, got, test["tolerance"]))
    os._exit(0)


def _expected(text: str) -> equality.Value:
    try:
        value = equality.Value(latex_answers.read(text))
    except MemoryError:
        os._exit(0)
    except ImportError as error:
        _fault(error)
    except Exception as error:  # the test is at fault, whatever the error
        _report("bad_test", f"the expected answer {text[:80]!r} cannot be used: {str(error)[:200]}")
        os._exit(0)
    if equality.difference(value, value) is not None:
        _report("bad_test", f"the expected answer {text[:80]!r} cannot be used: it is not equal to itself")
        os._exit(0)
    return value


def _received() -> dict[str, Any]:
    """Return the reader's message. Ends the process if it is malformed."""
    with open(two_boxes.TESTER_IN_FD, "rb") as source:
        message = source.read(MOST_TREE_BYTES + 1)
    try:
        answer = json.loads(message) if len(message) <= MOST_TREE_BYTES else None
    except (ValueError, RecursionError):
        os._exit(0)
    if type(answer) is not dict:
        os._exit(0)
    return answer


def _verdict(
    expected: list[equality.Value], answer: dict[str, Any], tolerance: equality.Tolerance | None
) -> tuple[str, str]:
    if "fault" in answer:
        return "fault", str(answer["fault"])[:300]
    if "unreadable" in answer:
        return "failed", f"the answer cannot be read: {str(answer['unreadable'])[:200]}"
    try:
        got = equality.Value(answer)
    except ImportError as error:
        _fault(error)
    except MemoryError:
        return "failed", "comparing the answer took too much memory"
    except Exception as error:  # a malformed tree: the candidate's fault
        return "failed", f"the answer cannot be read: {str(error)[:200]}"
    reasons = [_difference(each, got, tolerance) for each in expected]
    return ("passed", "") if None in reasons else ("failed", f"not the expected answer: {reasons[0]}")


def _difference(expected: equality.Value, got: equality.Value, tolerance: equality.Tolerance | None) -> str | None:
    try:
        return equality.difference(expected, got, tolerance)
    except ImportError as error:
        _fault(error)
    except MemoryError:
        return "comparing took too much memory"
    except INCOMPARABLE as error:
        return f"the two cannot be compared ({type(error).__name__})"
    except Exception as error:  # unforeseen: says nothing about the answer
        _fault(error)


def _fault(error: Exception) -> NoReturn:
    """Report an unforeseen error, such as a part of sympy that a box cannot import, and exit."""
    _report("fault", f"{type(error).__name__}: {error}"[:300])
    os._exit(0)


def _report(result: str, message: str) -> None:
    """Write the report so far; if the process ends unexpectedly, the last report stands."""
    report = json.dumps({"result": result, "message": message}).encode()
    os.pwrite(two_boxes.REPORT_FD, report.ljust(REPORT_BYTES), 0)  # one write that covers the previous report


def _limit(seconds: float, end: Any) -> None:
    """Call `end` after this much more CPU time, which a busy machine does not shorten."""
    signal.signal(signal.SIGPROF, lambda *_: end())
    signal.setitimer(signal.ITIMER_PROF, seconds)
