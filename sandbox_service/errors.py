"""Everything that can go wrong on our side of the wall, drawn as a tree.

    ProctorError
    ├── ConfigurationError      the operator must change something; says what
    ├── BadRequest              the client must change something (4xx); says what
    │   ├── UnsupportedLanguage
    │   ├── UnsupportedChecker
    │   ├── LimitTooHigh
    │   ├── BodyTooLarge        413
    │   ├── IdReused            409
    │   ├── UnknownSuite        409
    │   └── NotFound            404
    ├── ComeBackLater           429
    │   ├── QueueFull           too much is waiting
    │   └── TooManyGuesses      of an API key
    ├── Unavailable             no jail, no worker, shutting down (503)
    │   └── Overdue             the same to clients who ask again after a 504 only
    └── SandboxFault            the jail failed, not the program: never a verdict about the program
        ├── JailDied            it ended, hung or broke the protocol while it had work
        ├── JailUnsafe          the canary was not held: nothing may be graded
        └── SetupFailed         a box could not be prepared

What a submission does wrong is no exception: it is an `Outcome`, and in the end a `Verdict`.
"""


class ProctorError(Exception):
    """The root of everything this package raises on purpose."""


class ConfigurationError(ProctorError):
    """A setting or the machine is wrong; the message says what to do."""


class BadRequest(ProctorError):
    """The request cannot be graded as it stands; the message says why."""


class UnsupportedLanguage(BadRequest):
    """No such language here; `GET /v1/languages` lists those there are."""


class UnsupportedChecker(BadRequest):
    """What this checker needs is not installed here; the message says how to install it."""


class LimitTooHigh(BadRequest):
    """A limit is beyond what this service was configured to allow."""


class IdReused(BadRequest):
    """That id was used before, with another body (409)."""


class UnknownSuite(BadRequest):
    """No such suite here; upload it and send the submission again (409)."""


class NotFound(BadRequest):
    """There is no such submission or suite, or there is no more (404)."""


class BodyTooLarge(BadRequest):
    """The body, or what it unpacks to, or a batch, is over the limit (413): smaller parts would be taken."""


class ComeBackLater(ProctorError):
    """Not now; try again after `retry_after_seconds`."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class QueueFull(ComeBackLater):
    """The queue's bound is reached."""


class TooManyGuesses(ComeBackLater):
    """Too many wrong keys came from one address."""


class Unavailable(ProctorError):
    """Nothing can be graded now: no safe jail, or the service is closing."""


class Overdue(Unavailable):
    """Not graded while its client waits (504)."""


class SandboxFault(ProctorError):
    """The sandbox failed. Retried elsewhere, and reported as `IE` if that fails too."""


class JailDied(SandboxFault):
    """The jail ended, hung or sent nonsense while it had work."""


class JailUnsafe(SandboxFault):
    """A program that must be blocked was not blocked; the message names it."""


class SetupFailed(SandboxFault):
    """A fresh box could not be set up; the message names the step and the errno."""
