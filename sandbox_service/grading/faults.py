"""Faults of the tests and the judges that came with a submission."""

from __future__ import annotations

from sandbox_service.errors import SandboxError


class BadTestError(SandboxError):
    """The test itself cannot be run: never the candidate's fault."""


class BadCheckerError(SandboxError):
    """The checker or interactor failed. `provoked`: on the submission's output, and on no other."""

    provoked = False
