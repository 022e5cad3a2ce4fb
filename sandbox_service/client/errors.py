"""What can go wrong between a client and the service, and for each what to do about it.

BadRequest
└── Refused    another try would not change it: the request, the key or the address must be another
Unavailable
├── Away       nobody answered for as long as there was patience
└── Stranger   who answers is no such service, or one of another version
SandboxFault
└── Fault      there are answers without a verdict, and it was asked that this be an exception
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service.errors import BadRequest, SandboxFault, Unavailable
from sandbox_service.schema import Grade


class Refused(BadRequest):
    """The service refuses what was sent; the message says what to change.

    `status` is HTTP's, `kind` the error's `type`; 0 and empty where nobody was asked.
    """

    def __init__(self, message: str, status: int = 0, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Away(Unavailable):
    """Nobody answered for `patience_seconds`."""


class Stranger(Unavailable):
    """What was answered is not what the service says."""


class Fault(SandboxFault):
    """Submissions without a verdict. `kind` and `reason` are the first one's; `grades` are all, in the order given."""

    def __init__(self, message: str, kind: str = "", reason: str = "", grades: Sequence[Grade] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.reason = reason
        self.grades = list(grades)
