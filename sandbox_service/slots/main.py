"""A slot process: grades submissions one at a time, with sandboxes of its own, until the service ends.

It is blocking code: a checker that compares megabytes delays no other slot and not the service's event loop. If the
process is killed, the service starts another and sends the submission again. This module also chooses the isolation
tool and the runtimes for a slot, by the settings.
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
from dataclasses import replace
from importlib.metadata import version

from pydantic import ValidationError

from sandbox_service import allocator
from sandbox_service.errors import ConfigurationError, SandboxError, logs
from sandbox_service.grading.grader import Grader
from sandbox_service.grading.judges import JudgeBench
from sandbox_service.grading.ordered_tests import Progress
from sandbox_service.grading.sharing import Sharing
from sandbox_service.grading.suites import ID_LENGTH, LruCache, Suite, read, with_suite
from sandbox_service.grading.work import GradingCancelledError
from sandbox_service.judging.expected import as_written
from sandbox_service.languages import find, machine_cache
from sandbox_service.languages.base import Runtime
from sandbox_service.languages.compiler import Compiler
from sandbox_service.languages.judge_libraries import JudgeLibraries
from sandbox_service.languages.launched import JUDGE_KINDS, LaunchedRuntime
from sandbox_service.languages.launcher import SECOND_UIDS, LauncherZygote
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.languages.python import PythonRuntime
from sandbox_service.sandbox import tools, uids
from sandbox_service.sandbox.base import IsolationTool, Place, Sandbox, Zygote
from sandbox_service.sandbox.exclusive import ExclusiveRun
from sandbox_service.sandbox.launch_jail import LaunchJail
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.sandbox.python_jail import PythonJail
from sandbox_service.schema import FailureKind, Grade, GraderIdentity, Submission
from sandbox_service.settings import Settings
from sandbox_service.slots import protocol
from sandbox_service.slots.protocol import BlockingConnection, Frame

log = logging.getLogger("sandbox_service.slots.main")  # `__name__` is `__main__` here

RETRY_SECONDS = 2.0
PR_SET_PDEATHSIG = 1


def place_of(settings: Settings, index: int) -> Place:
    """Return the place of the sandboxes of slot `index`: as root its own uid, and its own processor.

    A slot's process is pinned to its processor already. Graders within other processes share the processors by their
    uids: all of them have the index 0.
    """
    uid = uids.claimed(settings.first_uid + index) if os.geteuid() == 0 else -1
    return Place(uid, _processor_of(index if uid < 0 else uid))


def _processor_of(index: int) -> int:
    processors = sorted(os.sched_getaffinity(0))
    return processors[index % len(processors)]


def runtimes_of(settings: Settings) -> dict[str, Runtime]:
    """Return the runtimes by name, as the rows of `languages.LANGUAGES` name them."""
    cache = MachineCache(machine_cache.folder_of(settings.cache_folder), settings.compile_cache_bytes)
    compiler = Compiler(cache, settings.compile_slot_bytes)
    factors = {find(name).name: factor for name, factor in settings.cpu_factor_of.items()}
    return {
        "python": PythonRuntime(settings.python, settings.library_names),
        "launched": LaunchedRuntime(compiler, factors),
    }


def jail_of(tool: IsolationTool, place: Place, zygote: Zygote) -> Sandbox:
    """Return a sandbox that is starting, of the class that knows the zygote's messages.

    Args:
        tool: the isolation tool.
        place: the processor and the uid.
        zygote: the kind of zygote.
    """
    return LaunchJail(tool, place, zygote) if isinstance(zygote, LauncherZygote) else PythonJail(tool, place, zygote)


def pool_of(settings: Settings, index: int) -> JailPool:
    """Return the sandboxes of slot `index`, not yet open."""
    place, tool = place_of(settings, index), tools.make(settings.isolation, settings.isolation_program)
    zygotes = {kind: zygote for each in runtimes_of(settings).values() for kind, zygote in each.zygotes.items()}
    judges = replace(place, uid=place.uid + SECOND_UIDS) if place.privileged else place
    places = {kind: judges if kind in JUDGE_KINDS else place for kind in zygotes}
    return JailPool(
        lambda kind: jail_of(tool, places[kind], zygotes[kind]),
        place.uid if place.privileged else os.getuid(),
        settings.recycle_after,
        settings.canary_seconds,
        uids=dict.fromkeys(JUDGE_KINDS, judges.uid) if place.privileged else None,
    )


def sharing_of(settings: Settings) -> Sharing:
    """Return the rule for stdin tests in one box, without audits so far."""
    return Sharing(
        by_default=settings.stdin_isolation == "submission",
        audit_share=settings.shared_audit_share,
        flip_share=settings.shared_flip_share,
    )


def grader_of(
    settings: Settings, jails: JailPool, exclusive: ExclusiveRun | None = None, sharing: Sharing | None = None
) -> Grader:
    """Return a grader.

    Args:
        settings: the settings.
        jails: the slot's sandboxes, open.
        exclusive: the locks of the machine's slots; None if there is only one.
        sharing: the rule for stdin tests in one box; None for a new one.
    """
    language = str(jails.jail("std").identity.get("python", "")).replace("cpython", "CPython")
    bench = JudgeBench(JudgeLibraries(settings.judge_libraries))
    identity = GraderIdentity(version=version("proctor"), language=language, host=platform.node())
    return Grader(
        jails,
        runtimes_of(settings),
        identity,
        settings.display_bytes,
        exclusive,
        settings.compile_limits,
        bench,
        sharing=sharing or sharing_of(settings),
        audit_share=settings.audit_test_share,
    )


class Slot:
    """The loop: check the sandboxes, receive a submission, grade it, answer."""

    def __init__(self, settings: Settings, index: int, line: BlockingConnection, exclusive: ExclusiveRun) -> None:
        self._settings = settings
        self._line = line
        self._exclusive = exclusive
        self._jails = pool_of(settings, index)
        self._sharing = sharing_of(settings)  # outlives a grader: its audits count together
        self._grader: Grader | None = None
        self._fault = ""  # for which the sandboxes are not usable: it is logged once, not at every try
        self._suites: LruCache[Suite] = LruCache(protocol.SUITES, protocol.SUITES_BYTES)

    def serve(self) -> None:
        """Serve until the service closes the connection."""
        try:
            while True:
                ready = self._prove()
                frame = self._line.next(self._settings.canary_seconds if ready else RETRY_SECONDS)
                if frame is not None:
                    self._answer(frame)
        except (EOFError, ConnectionError):
            log.info("service_gone")
        finally:
            self._jails.close()

    def _prove(self) -> bool:
        """Make sure that the sandboxes are isolated, and report to the service; return whether they are."""
        is_new = self._grader is None
        try:
            if is_new:
                self._jails.open()
                self._grader = grader_of(self._settings, self._jails, self._exclusive, self._sharing)
            self._jails.recheck()
        except (SandboxError, ConfigurationError, OSError) as fault:  # a full or read-only disk, no more descriptors
            if str(fault) != self._fault:
                self._fault = str(fault)
                log.error("jail_unusable", extra={"reason": self._fault})
            self._jails.close()
            self._grader = None
            self._tell(ready=False, reason=str(fault))
            return False
        self._fault = ""
        if is_new:
            self._tell(ready=True)
        return True

    def _tell(self, *, ready: bool, reason: str = "") -> None:
        language = str(self._jails.jail("std").identity.get("python")) if ready else ""
        status = {"ready": ready, "reason": reason, "language": language}
        self._line.send(protocol.STATUS, 0, json.dumps(status).encode())

    def _answer(self, frame: Frame) -> None:
        if frame.kind == protocol.SUITE:
            self._keep(frame.payload)
            return
        if frame.kind == protocol.CANCEL:
            self._suites.get(frame.payload[:ID_LENGTH].decode())  # as the service's cache does
            self._line.forget(frame.key)
            self._line.send(protocol.CANCELLED, frame.key)
            return
        try:
            found = self._grade(frame)
        except GradingCancelledError:
            self._line.send(protocol.CANCELLED, frame.key)
            return
        finally:
            self._line.forget(frame.key)
        if isinstance(found, Progress):
            self._line.send(protocol.PAUSED, frame.key, found.model_dump_json(exclude_defaults=True).encode())
            return
        found, body = _written(found)
        if found.failure_kind == FailureKind.JAIL_UNSAFE:
            self._jails.distrust()
        self._line.send(protocol.GRADE, frame.key, body)

    def _keep(self, payload: bytes) -> None:
        """Store a suite for later submissions; one that cannot be read, as an empty one."""
        suite_id, body = payload[:ID_LENGTH].decode(), payload[ID_LENGTH:]
        try:
            found = read(body)
            suite = replace(found, body=b"", tests=as_written(found.tests, body))
        except ValidationError:
            suite = Suite(suite_id, b"", [])
        self._suites.put(suite_id, suite, len(body))

    def _grade(self, frame: Frame) -> Grade | Progress:
        suite = self._suites.get(frame.payload[:ID_LENGTH].decode())
        tests = suite.tests if suite else []
        progress, body = protocol.unpacked_work(frame.payload, ID_LENGTH)
        if suite is None or not tests:  # the service sends a suite before the submissions that need it
            return Grade.fault("", 0, FailureKind.BAD_SUBMISSION, "its suite cannot be read")
        if self._grader is None:
            return Grade.fault("", len(tests), FailureKind.JAIL_UNSAFE, "this slot has no usable jail")
        try:
            submission = Submission.model_validate_json(body)
            submission = with_suite(submission, suite)
            return self._grader.go_on(
                submission,
                Progress.model_validate_json(progress) if progress else Progress(),
                lambda: self._line.is_cancelled(frame.key),
                lambda: self._line.is_asked_back(frame.key),
            )
        except ValidationError as error:
            return Grade.fault(
                "", len(tests), FailureKind.BAD_SUBMISSION, f"not a submission: {error.error_count()} mistakes"
            )
        except SandboxError as error:
            return Grade.fault("", len(tests), FailureKind.SANDBOX, str(error))
        except (GradingCancelledError, EOFError, ConnectionError):
            raise
        except Exception as error:
            log.exception("grader_error")
            return Grade.fault("", len(tests), FailureKind.GRADER_ERROR, f"{type(error).__name__}: {error}")


def _written(grade: Grade) -> tuple[Grade, bytes]:
    """Return a grade and its JSON. A grade that cannot be encoded is replaced by a fault."""
    try:
        return grade, grade.model_dump_json().encode()
    except ValueError as error:  # pydantic's serialization error is one
        log.exception("grade_not_encodable")
        fault = Grade.fault(
            "", grade.total, FailureKind.GRADER_ERROR, f"the grade cannot be written: {type(error).__name__}"
        )
        return fault, fault.model_dump_json().encode()


def pin_to_processor(index: int) -> None:
    """Pin this process to the processor of slot `index`: it and its sandbox work in turns, and share the caches."""
    os.sched_setaffinity(0, [_processor_of(index)])


def end_with_service() -> None:
    """Have the kernel kill this process when the service's ends, which it would not notice during a test."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Run a slot. argv[1] is the service's JSON: index, and the descriptors `connection`, `gate` and `room`."""
    options = json.loads(sys.argv[1])
    settings = Settings.from_environment()
    logs.to_stderr(settings.log_level, options["index"])
    for number in (signal.SIGINT, signal.SIGTERM):  # the service decides when a slot ends
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which every program started from here would inherit
    end_with_service()
    allocator.return_large_blocks()
    connection = socket.socket(fileno=options["connection"])
    pin_to_processor(options["index"])
    exclusive = ExclusiveRun(f"/proc/self/fd/{options['gate']}", f"/proc/self/fd/{options['room']}")
    Slot(settings, options["index"], BlockingConnection(connection), exclusive).serve()


if __name__ == "__main__":
    main()
