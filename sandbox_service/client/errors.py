"""The client's exceptions.

BadRequestError
└── RefusedError                    a retry will not help: change the request, the key or the address
UnavailableError
├── ServiceUnavailableError         no answer for `patience_seconds`
└── NotProctorError                 what answers is not a proctor service, or has another version
SandboxError
└── GraderFaultError                submissions have no verdict, and the caller wanted an exception
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service.errors import BadRequestError, SandboxError, UnavailableError
from sandbox_service.schema import Grade


class RefusedError(BadRequestError):
    """The service refused the request; the message says what to change.

    Attributes:
        status: The HTTP status; 0 if no request was sent.
        kind: The error's `type`; empty if no request was sent.
    """

    def __init__(self, message: str, status: int = 0, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class ServiceUnavailableError(UnavailableError):
    """The service did not answer for `patience_seconds`."""


class NotProctorError(UnavailableError):
    """The answer is not one that a proctor service gives."""


class GraderFaultError(SandboxError):
    """Submissions have no verdict.

    Attributes:
        kind: The `failure_kind` of the first.
        reason: The `failure_reason` of the first.
        grades: All grades, in the order of the submissions.
    """

    def __init__(self, message: str, kind: str = "", reason: str = "", grades: Sequence[Grade] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.reason = reason
        self.grades = list(grades)
