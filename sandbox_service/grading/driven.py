"""Makes calls of a submission with a driver (languages/drivers): one box, one process, a JSON line for each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.languages import drivers
from sandbox_service.languages.drivers import Call, Driven
from sandbox_service.sandbox.base import Outcome


@dataclass(frozen=True)
class Answers:
    """The outcome and the results of calls.

    Attributes:
        outcome: of the box; its stdout is what the submission printed.
        lines: the results there are, in order, each JSON.
        misfit: why the calls do not fit the submission; None if they did.
    """

    outcome: Outcome
    lines: list[bytes]
    misfit: str | None = None


def ask(work: Work, driven: Driven, calls: Sequence[Call]) -> Answers:
    """Make calls in one box.

    Args:
        work: the compiled program.
        driven: its sources.
        calls: the calls.

    Returns:
        Their results.

    Raises:
        BadTestError: an argument is too deep to be sent.
        SandboxError: the sandbox failed.
    """
    work.check_cancelled()
    token = drivers.new_token()
    try:
        stdin = driven.stdin(token, calls)
    except drivers.UnsupportedCallError as error:
        raise BadTestError(str(error)) from None
    outcome = work.run_stdin(stdin)
    results = drivers.decode(token, outcome.stdout)
    return Answers(outcome._replace(stdout=results.printed), results.lines[: len(calls)], results.misfit)
