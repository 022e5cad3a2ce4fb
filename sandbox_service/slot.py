"""A slot: one process that grades, with jails of its own, for as long as the service that started it lives.

It is plain, blocking code with one thing to do at a time. The service's event loop, checkers that compare megabytes
and other slots cannot hold it up, nor it them. If it is killed, the service starts another and gives it the work again.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import platform
import signal
import socket
import sys
from importlib.metadata import version

from pydantic import ValidationError

from sandbox_service import frames
from sandbox_service.errors import ConfigurationError, SandboxFault
from sandbox_service.frames import Frame, Line
from sandbox_service.grader import Cancelled, Grader
from sandbox_service.jails.firejail import Place
from sandbox_service.jails.pool import JailPool
from sandbox_service.jails.quiet import Quiet
from sandbox_service.schema import Grade, GraderIdentity, Submission, TestCase
from sandbox_service.settings import Settings
from sandbox_service.suites import ID_LENGTH, Shelf, read

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
PR_SET_PDEATHSIG = 1


def place_of(settings: Settings, index: int) -> Place:
    """Where slot `index` has its jails: a processor of its own, and as root a uid of its own."""
    processors = sorted(os.sched_getaffinity(0))
    uid = settings.first_uid + index if os.geteuid() == 0 else -1
    return Place(settings.firejail, settings.python, uid, processors[index % len(processors)])


def pool_of(settings: Settings, index: int) -> JailPool:
    """The jails of slot `index`, not yet open."""
    place = place_of(settings, index)
    uid = place.uid if place.privileged else os.getuid()
    return JailPool(place, uid, settings.recycle_after, settings.canary_seconds)


def grader_of(settings: Settings, jails: JailPool, quiet: Quiet | None = None) -> Grader:
    """A grader over open jails."""
    language = str(jails.jail("std").identity.get("python", "")).replace("cpython", "CPython")
    identity = GraderIdentity(version=version("proctor"), language=language, host=platform.node())
    return Grader(jails, identity, settings.display_bytes, quiet)


class Slot:
    """The loop: prove the jails, take a submission, grade it, answer."""

    def __init__(self, settings: Settings, index: int, line: Line, quiet: Quiet) -> None:
        self._settings = settings
        self._line = line
        self._quiet = quiet
        self._jails = pool_of(settings, index)
        self._grader: Grader | None = None
        self._suites: Shelf[list[TestCase]] = Shelf(frames.SUITES, frames.SUITES_BYTES)

    def serve(self) -> None:
        """Until the service is gone."""
        try:
            while True:
                ready = self._prove()
                frame = self._line.next(self._settings.canary_seconds if ready else RETRY_SECONDS)
                if frame is not None:
                    self._answer(frame)
        except (EOFError, OSError):
            log.info("the service has gone")
        finally:
            self._jails.close()

    def _prove(self) -> bool:
        """Have jails that are proved to be jails, and tell the service whether it is so."""
        try:
            if self._grader is None:
                self._jails.open()
                self._grader = grader_of(self._settings, self._jails, self._quiet)
                self._tell(ready=True)
            self._jails.recheck()
        except (SandboxFault, ConfigurationError) as fault:
            log.error("jail_unusable", extra={"reason": str(fault)})
            self._jails.close()
            self._grader = None
            self._tell(ready=False, reason=str(fault))
            return False
        return True

    def _tell(self, *, ready: bool, reason: str = "") -> None:
        language = str(self._jails.jail("std").identity.get("python")) if ready else ""
        status = {"ready": ready, "reason": reason, "language": language}
        self._line.send(frames.STATUS, 0, json.dumps(status).encode())

    def _answer(self, frame: Frame) -> None:
        if frame.kind == frames.SUITE:
            self._keep(frame.payload)
            return
        if frame.kind == frames.CANCEL:
            self._suites.get(frame.payload[:ID_LENGTH].decode())  # used, say the service's books, which ours must match
            self._line.forget(frame.key)
            self._line.send(frames.CANCELLED, frame.key)
            return
        try:
            grade = self._grade(frame)
        except Cancelled:
            self._line.send(frames.CANCELLED, frame.key)
            return
        finally:
            self._line.forget(frame.key)
        if grade.failure_kind == "jail_unsafe":
            self._jails.distrust()
        self._line.send(frames.GRADE, frame.key, grade.model_dump_json().encode())

    def _keep(self, payload: bytes) -> None:
        """A suite, for what comes after it. One that cannot be read is kept as none: others are not to suffer."""
        body = payload[ID_LENGTH:]
        try:
            tests = read(body).tests
        except ValidationError:
            tests = []
        self._suites.put(payload[:ID_LENGTH].decode(), tests, len(body))

    def _grade(self, frame: Frame) -> Grade:
        tests = self._suites.get(frame.payload[:ID_LENGTH].decode())
        if not tests:  # the service sends a suite before what needs it
            return Grade.fault("", 0, "bad_submission", "its suite cannot be read")
        if self._grader is None:
            return Grade.fault("", len(tests), "jail_unsafe", "this slot has no usable jail")
        try:
            submission = Submission.model_validate_json(frame.payload[ID_LENGTH:])
            submission = submission.model_copy(update={"tests": tests, "suite": None})
            return self._grader.grade(submission, lambda: self._line.is_cancelled(frame.key))
        except ValidationError as error:
            return Grade.fault("", len(tests), "bad_submission", f"not a submission: {error.error_count()} mistakes")
        except SandboxFault as error:
            return Grade.fault("", len(tests), "sandbox", str(error))
        except (Cancelled, EOFError, OSError):
            raise
        except Exception as error:
            log.exception("grader_error")
            return Grade.fault("", len(tests), "grader_error", f"{type(error).__name__}: {error}")


def settle(settings: Settings, index: int) -> None:
    """Move this process to its slot's processor: it and its jail work in turns, and share what is in the caches."""
    os.sched_setaffinity(0, [place_of(settings, index).cpu])


def end_with_service() -> None:
    """Have the kernel kill us when the service's process ends: in the middle of a test we would not notice."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """argv[1] is the service's JSON: index, connection, gate and room descriptors."""
    options = json.loads(sys.argv[1])
    settings = Settings.from_environment()
    logging.basicConfig(level=settings.log_level.upper(), format=f"slot {options['index']}: %(message)s")
    for number in (signal.SIGINT, signal.SIGTERM):  # the service decides when a slot ends
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which every program started from here would inherit
    end_with_service()
    connection = socket.socket(fileno=options["connection"])
    settle(settings, options["index"])
    quiet = Quiet(f"/proc/self/fd/{options['gate']}", f"/proc/self/fd/{options['room']}")
    Slot(settings, options["index"], Line(connection), quiet).serve()


if __name__ == "__main__":
    main()
