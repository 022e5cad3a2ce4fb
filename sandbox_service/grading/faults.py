"""Faults of what came with a submission: its tests and its judges."""

from __future__ import annotations

from sandbox_service.errors import SandboxError


class BadTestError(SandboxError):
    """The test itself cannot be run: never the candidate's fault."""


class BadCheckerError(SandboxError):
    """The checker or interactor failed. `provoked`: on what the submission wrote, and it does not fail without that."""

    provoked = False
