"""The checker `math`: compares two mathematical answers in a pair of boxes, where the libraries for it are loaded.

Equal texts and plain numbers are decided without a box; see `judging.mathematics`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service.errors import SandboxError
from sandbox_service.grading.asserts import deciding_outcome
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.judging import mathematics
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.judging.verdict import judge
from sandbox_service.sandbox.files import Program
from sandbox_service.schema import Limits

KIND = "mathematics"

# limits of a comparison: the boxes hold themselves to less CPU time, and neither waits for anything else
COMPARING = Limits(cpu_seconds=5, wall_seconds=30, output_bytes=1 << 20)


def compare(work: Work, index: int, outputs: Sequence[str], output: bytes) -> tuple[str | None, float]:
    """Compare an output with the expected ones.

    Args:
        work: the submission.
        index: of the test.
        outputs: the expected outputs.
        output: the program's.

    Returns:
        Why this is not an expected answer, or None; and the CPU seconds of the boxes.

    Raises:
        BadTestError: an expected answer cannot be read.
        SandboxError: the boxes failed.
    """
    checker = work.checker
    expected = mathematics.accepted(list(outputs))
    decided, message = mathematics.at_once(output, expected, tolerant=tolerance_of(checker) is not None)
    if decided:
        return message, 0.0
    question = mathematics.question(expected, checker)
    with Program(output.decode("utf-8", "replace").strip(), once=True) as answer:
        pair = work.runner.run(
            KIND, COMPARING, lambda jail: jail.run_pair(answer, "", question, COMPARING), deciding_outcome
        )
    seconds = pair.candidate.cpu_seconds + pair.tester.cpu_seconds
    result, message = mathematics.answer(pair.report)
    if result == "passed":
        return None, seconds
    if result == "failed":
        return message, seconds
    if result == "gone":
        reason = judge(pair.candidate, COMPARING)[1] or "its reader said nothing"
        return f"the answer cannot be read: {reason}", seconds
    if result == "bad_test":
        raise BadTestError(f"test {index}: {message}")
    raise SandboxError(message)
