"""The package's exceptions.

    ProctorError
    ├── ConfigurationError          the operator must change something (the message says what)
    ├── BadRequestError             the client must change something (4xx; the message says what)
    │   ├── UnsupportedLanguageError
    │   ├── UnsupportedCheckerError
    │   ├── LimitTooHighError
    │   ├── BodyTooLargeError       413
    │   ├── IdReusedError           409
    │   ├── UnknownSuiteError       409
    │   └── NotFoundError           404
    ├── RetryLaterError             429
    │   ├── QueueFullError          too much work is waiting
    │   │   └── OverQuotaError      the API key has used up its quota
    │   └── TooManyGuessesError     too many wrong API keys from one address
    ├── UnavailableError            no sandbox, no worker, or shutting down (503)
    │   └── OverdueError            the same, for clients that only retry after a 504
    └── SandboxError                the sandbox failed, not the program: never a verdict about the program
        ├── JailDiedError           the jail ended, hung or broke the protocol during a run
        ├── JailUnsafeError         the canary escaped or could read something: nothing may be graded
        └── BoxSetupError           a box could not be prepared

A failure of a submitted program is not an exception: it is an `Outcome`, which becomes a `Verdict`.
"""


class ProctorError(Exception):
    """Base class of all exceptions of this package."""


class ConfigurationError(ProctorError):
    """A setting or the machine is not usable; the message says what to change."""


class BadRequestError(ProctorError):
    """The request cannot be graded as it is; the message says why."""


class UnsupportedLanguageError(BadRequestError):
    """The language is not supported; `GET /v1/languages` lists the supported ones."""


class UnsupportedCheckerError(BadRequestError):
    """The checker needs a package that is not installed; the message says how to install it."""


class LimitTooHighError(BadRequestError):
    """A limit exceeds this service's configuration."""


class IdReusedError(BadRequestError):
    """The id was used before with another body or API key (409)."""


class UnknownSuiteError(BadRequestError):
    """The suite does not exist: upload it and send the submission again (409)."""


class NotFoundError(BadRequestError):
    """The submission or suite is unknown or has expired (404)."""


class BodyTooLargeError(BadRequestError):
    """The body, its decompressed size or the batch exceeds a limit: send it in smaller parts (413)."""


class RetryLaterError(ProctorError):
    """The request cannot be accepted now: retry after `retry_after_seconds`."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class QueueFullError(RetryLaterError):
    """The queue is full."""


class OverQuotaError(QueueFullError):
    """The API key has used up its quota; handled as a full queue where nothing else is said."""


class TooManyGuessesError(RetryLaterError):
    """One address sent too many wrong API keys."""


class UnavailableError(ProctorError):
    """Nothing can be graded now: there is no safe jail, or the service is closing."""


class OverdueError(UnavailableError):
    """The submission was not graded while its client waited (504)."""


class SandboxError(ProctorError):
    """The sandbox failed. The submission is retried elsewhere, and its verdict is `IE` if this fails too."""


class JailDiedError(SandboxError):
    """The jail ended, hung or violated the protocol during a run."""


class JailUnsafeError(SandboxError):
    """The sandbox did not block a program that it must block; the message names the program."""


class BoxSetupError(SandboxError):
    """A box could not be set up; the message names the step and the errno."""
