"""The runtime protocol: prepares the sources of one or more languages, and names the sandboxes that run them.

A runtime knows no isolation tool: it names zygotes, and the pool of a slot starts each in a sandbox when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from sandbox_service.sandbox.base import Outcome, Sandbox, Zygote
from sandbox_service.schema import Limits

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """A program as it was submitted.

    Attributes:
        language: the name of its language.
        text: the source.
        files: further files beside it, by name.
        limits: those of a run.
        compile_limits: those of the compiler.
    """

    language: str
    text: str
    limits: Limits
    files: Mapping[str, str] = field(default_factory=dict)
    compile_limits: Limits = field(default_factory=Limits)


class Program(Protocol):
    """A prepared program, in the form that its runtime's sandboxes take. A context manager."""

    def refusal(self, *, was_stopped: bool = False) -> str | None:
        """Return why the source did not compile, or None if it did. Python's is known only after a run.

        Args:
            was_stopped: the host ended that run for another reason; what is not known by then is None.
        """
        ...

    @property
    def refused(self) -> str | None:
        """Why the source did not compile, if that is known before a run."""
        ...

    def begin_pass(self, number: int) -> None:
        """Draw other random numbers in runs of this pass, from 0, where those of an unseeded program are the same."""
        ...

    @property
    def can_share(self) -> bool:
        """True if its sandboxes can run several stdin tests in one box."""
        ...


class Runs(Protocol):
    """Runs actions in sandboxes; see `grading.runner.Runner.run`."""

    def run(self, kind: str, limits: Limits, action: Callable[[Sandbox], T], outcome_of: Callable[[T], Outcome]) -> T:
        """Run an action in a sandbox of this kind.

        Args:
            kind: the kind of zygote.
            limits: the limits of the run.
            action: runs in the sandbox.
            outcome_of: takes the outcome from the action's result.
        """
        ...


class Runtime(Protocol):
    """Answers the grader's questions before a submission is run."""

    @property
    def zygotes(self) -> Mapping[str, Zygote]:
        """The zygotes by kind. A zygote says what is started and kept warm, under which system call filter, and how
        the memory of its boxes is measured.
        """
        ...

    def kind_of(self, source: Source) -> str:
        """Return the kind of zygote that runs this source."""
        ...

    def judge_kind_of(self, source: Source) -> str:
        """Return the kind of zygote that runs this source as a judge: one that runs no submissions."""
        ...

    def limits_of(self, source: Source) -> Limits:
        """Return the limits that its runs are held to and judged by: those asked for, with the language's allowance."""
        ...

    def described(self, source: Source) -> str:
        """Return language, version and flags for `grader.language`; empty for those of the grader."""
        ...

    def prepare(self, source: Source, runs: Runs, *, once: bool) -> AbstractContextManager[Any]:
        """Return the program, a `Program`, that is sent with each run. May compile it in a box.

        Args:
            source: the source.
            runs: runs compilers.
            once: it is likely to run in one box only, so that a compiled form need not be kept.

        Raises:
            SandboxError: the compiler's sandbox failed, or there is no compiler.
        """
        ...
