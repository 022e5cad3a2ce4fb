"""Joins a program and a judge by two pipes each, and passes on the output of each to the other.

The host stands between the two: it records the conversation, counts what each side writes, and decides when a side
learns that the other one has ended. Neither side ever gets SIGPIPE; what is written to a side that has ended is thrown
away.

A deadlock is the state in which nothing is on its way and every thread of every living box waits, for something other
than a time, without having run for IDLE_SECONDS. A thread that waits for a processor does not sleep, so a busy machine
cannot look like one.

While both sides only talk, `_host.pass_on` does the work in C. It returns when there is something to decide: an end, a
pipe that is full or closed, too many bytes, or silence.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox_service.sandbox.base import Outcome
from sandbox_service.sandbox.running import RunningBox, Task
from sandbox_service.sandbox.transcript import Transcript

PIECE_BYTES = 1 << 16
MOST_PENDING = 1 << 16
IDLE_SECONDS = 1.0
LOOK_SECONDS = 0.25
SETTLE_SECONDS = 0.005  # between looks at a judge that has not been told yet
WAIT_MS = 250
ANSWERS, QUESTIONS = 0, 1  # the numbers of the flows, which `_host` marks by > and <


@dataclass
class Interaction:
    """The end of an interaction.

    Attributes:
        program, judge: the outcomes of the two boxes; the program's `stdout_bytes` is what it sent.
        judge_bytes: what the judge sent.
        judge_was_told: the judge learned that the program had ended, or closed its output, before it ended itself.
        judge_read: bytes of the program's that the judge took out of its pipe.
        program_killed, judge_killed: the host killed the box, because of a decision, a flood or a deadlock.
        idle: both sides waited, or one did while the other had ended.
        waited_for_judge: seconds in which the program waited while the judge ran or slept.
        transcript: the beginning of the conversation.
    """

    program: Outcome
    judge: Outcome
    judge_bytes: int
    judge_was_told: bool
    judge_read: int
    program_killed: bool
    judge_killed: bool
    idle: bool
    waited_for_judge: float
    transcript: bytes


@dataclass
class _Flow:
    """One direction: from a pipe that a box writes to a pipe that the other one reads. -1: closed.

    `lost` counts the bytes that the reader never took: those that were thrown away, and those left in its pipe.
    """

    source: int
    sink: int
    number: int
    most: int
    sent: int = 0
    lost: int = 0
    pending: bytearray = field(default_factory=bytearray)

    @property
    def is_flood(self) -> bool:
        return self.sent > self.most

    def close(self) -> None:
        self.close_source()
        self.close_sink()

    def close_source(self) -> None:
        if self.source >= 0:
            os.close(self.source)
            self.source = -1

    def close_sink(self) -> None:
        if self.sink >= 0:
            self.lost += self.unread()
            os.close(self.sink)
            self.sink = -1

    def discard(self) -> None:
        self.lost += len(self.pending)
        self.pending.clear()

    def unread(self) -> int:
        """Return how many bytes are in the pipe of the open sink."""
        found = bytearray(4)
        fcntl.ioctl(self.sink, termios.FIONREAD, found)
        return int.from_bytes(found, sys.byteorder)


Start = Callable[[int, int], RunningBox]
"""Starts a box with these descriptors as stdin and stdout."""


def converse(
    start_program: Start,
    start_judge: Start,
    program_bytes: int,
    judge_bytes: int,
    decides: Callable[[Outcome], bool],
    transcript_bytes: int,
) -> Interaction:
    """Run a program and a judge until both have ended.

    Args:
        start_program: starts the program's box.
        start_judge: starts the judge's box.
        program_bytes: what the program may write.
        judge_bytes: what the judge may write.
        decides: says whether the program need not go on, of the outcome of a judge that was not told of its end.
        transcript_bytes: how much of the conversation is recorded.

    Returns:
        How both ended.

    Raises:
        SandboxError: a sandbox failed.
    """
    pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(4)]  # into and out of the program, into and out of the judge
    (program_in, to_program), (from_program, program_out), (judge_in, to_judge), (from_judge, judge_out) = pipes
    for fd in (to_program, from_program, to_judge, from_judge):
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
    answers = _Flow(from_program, to_judge, ANSWERS, program_bytes)
    questions = _Flow(from_judge, to_program, QUESTIONS, judge_bytes)
    theirs = [program_in, program_out, judge_in, judge_out]
    try:
        judge = start_judge(judge_in, judge_out)
        program = start_program(program_in, program_out)
        while theirs:
            os.close(theirs.pop())
        return _Relay(program, judge, answers, questions, decides, transcript_bytes).run()
    finally:
        for fd in theirs:
            os.close(fd)
        answers.close()
        questions.close()


class _Relay:
    def __init__(
        self,
        program: RunningBox,
        judge: RunningBox,
        answers: _Flow,
        questions: _Flow,
        decides: Callable[[Outcome], bool],
        transcript_bytes: int,
    ) -> None:
        from sandbox_service.sandbox import _host  # not above: see jail.py

        self._host = _host
        self._program, self._judge = program, judge
        self._answers, self._questions = answers, questions
        self._decides = decides
        self._transcript = Transcript(transcript_bytes)
        self._poll = select.poll()
        for fd in (answers.source, questions.source, program.fileno(), judge.fileno()):
            self._poll.register(fd, select.POLLIN)
        self._told = False
        self._idle = False
        self._waited_for_judge = 0.0
        self._looked = 0.0
        self._moved = time.monotonic()
        self._seen: tuple[frozenset[Task] | None, float] = None, 0.0

    def run(self) -> Interaction:
        """Pass on arriving bytes until both sides have ended."""
        while self._program.outcome is None or self._judge.outcome is None:
            settling = self._is_settling()
            if not self._only_talk():
                events = self._poll.poll(SETTLE_SECONDS * 1000 if settling else WAIT_MS)
            else:
                events = self._poll.poll(0) if self._pass_on() else []
            for fd, _ in events:
                self._handle(fd)
            if settling and not events:
                self._settle()
            elif not events:
                self._look()
            if not events:
                self._program.check_alive()
                self._judge.check_alive()
        program, judge = self._program.outcome, self._judge.outcome
        return Interaction(
            program=program._replace(stdout_bytes=self._answers.sent),
            judge=judge,  # the same object, whose judgement is known by now
            judge_bytes=self._questions.sent,
            judge_was_told=self._told,
            judge_read=self._answers.sent - self._answers.lost,
            program_killed=self._program.is_killed,
            judge_killed=self._judge.is_killed,
            idle=self._idle,
            waited_for_judge=self._waited_for_judge,
            transcript=self._transcript.text(),
        )

    def _only_talk(self) -> bool:
        """Return whether both sides run, both pipes are open, and nothing waits to be passed on."""
        if self._program.outcome is not None or self._judge.outcome is not None:
            return False
        flows = self._answers, self._questions
        return all(flow.source >= 0 and flow.sink >= 0 and not flow.pending for flow in flows)

    def _pass_on(self) -> bool:
        """Pass on the output of both sides until another event; return whether one came within the time to wait."""
        answers, questions = self._answers, self._questions
        is_news, answered, asked, moved, text, last, stuck, left = self._host.pass_on(
            (answers.source, answers.sink, answers.most - answers.sent),
            (questions.source, questions.sink, questions.most - questions.sent),
            (self._program.fileno(), self._judge.fileno()),
            WAIT_MS,
            self._transcript.state,
        )
        self._transcript.extend(text, last)
        self._moved = max(self._moved, moved)
        for flow, sent in ((answers, answered), (questions, asked)):
            flow.sent += sent
            self._stop_flood(flow)
        if stuck >= 0:
            flow = (answers, questions)[stuck]
            flow.pending += left
            self._write(flow)
        return bool(is_news)

    def _handle(self, fd: int) -> None:
        if fd == self._answers.source:
            self._read(self._answers)
        elif fd == self._questions.source:
            self._read(self._questions)
        elif fd == self._answers.sink:
            self._write(self._answers)
        elif fd == self._questions.sink:
            self._write(self._questions)
        elif fd == self._program.fileno() and self._program.outcome is None:
            if self._program.receive():
                self._poll.unregister(fd)
                self._end_of_program()
        elif fd == self._judge.fileno() and self._judge.outcome is None and self._judge.receive():
            self._poll.unregister(fd)
            self._end_of_judge()

    def _read(self, flow: _Flow) -> None:
        try:
            data = os.read(flow.source, PIECE_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._forget(flow.source)
            flow.close_source()
            if flow is self._questions and not flow.pending:
                self._close_sink(flow)
            return
        self._moved = time.monotonic()
        flow.sent += len(data)
        self._transcript.extend(*self._host.quote(flow.number, data, self._transcript.state))
        flow.pending += data
        if self._stop_flood(flow) or flow.sink < 0:
            flow.discard()
        else:
            self._write(flow)

    def _stop_flood(self, flow: _Flow) -> bool:
        """Kill the side that wrote more than it may; return whether it did."""
        if not flow.is_flood:
            return False
        (self._program if flow is self._answers else self._judge).kill()
        self._forget(flow.source)
        flow.close_source()
        return True

    def _write(self, flow: _Flow) -> None:
        was_full = len(flow.pending) > PIECE_BYTES
        try:
            while flow.pending:
                del flow.pending[: os.write(flow.sink, flow.pending[:PIECE_BYTES])]
                self._moved = time.monotonic()
        except BlockingIOError:
            self._poll.register(flow.sink, select.POLLOUT)
            if flow.source >= 0 and len(flow.pending) >= MOST_PENDING:
                self._forget(flow.source)
            return
        except BrokenPipeError:  # it closed its input, or has ended: further input is discarded
            flow.discard()
            self._close_sink(flow)
        if flow.sink >= 0:
            self._forget(flow.sink)
        if flow.source >= 0:
            self._poll.register(flow.source, select.POLLIN)
        elif flow is self._questions and not was_full:
            self._close_sink(flow)

    def _forget(self, fd: int) -> None:
        try:
            self._poll.unregister(fd)
        except KeyError:
            return

    def _discard(self, flow: _Flow) -> None:
        """Discard the bytes that the reader left, and go on reading: the writer may wait because the pipe was full."""
        flow.discard()
        self._close_sink(flow)
        if flow.source >= 0:
            self._poll.register(flow.source, select.POLLIN)

    def _close_sink(self, flow: _Flow) -> None:
        if flow.sink >= 0:
            self._forget(flow.sink)
            flow.close_sink()

    def _end_of_program(self) -> None:
        self._moved = time.monotonic()
        self._discard(self._questions)

    def _end_of_judge(self) -> None:
        self._moved = time.monotonic()
        self._discard(self._answers)
        assert self._judge.outcome is not None
        if not self._told and self._decides(self._judge.outcome):
            self._program.kill()  # else it may still fail, and then the judge only saw the consequence

    def _is_settling(self) -> bool:
        """Return whether the program has no more to say, and the judge has not been told so."""
        drained = self._answers.source < 0 and not self._answers.pending
        return drained and not self._told and self._answers.sink >= 0 and self._judge.outcome is None

    def _settle(self) -> None:
        """Tell the judge that the program has ended, once that cannot change the judge's own decision.

        A judge that has what it needs to decide, or fails by itself, ends without being told, however busy the machine
        is.
        """
        if self._program.outcome is None and not self._program.has_processes():
            return  # it has ended; the news is on its way
        if not self._judge_waits():
            return
        self._told = True
        self._close_sink(self._answers)

    def _judge_waits(self) -> bool:
        """Return whether the judge has read everything and sleeps."""
        return not self._answers.unread() and self._judge.sleeping_tasks() is not None

    def _look(self) -> None:
        """Kill both sides if they wait for each other, or for nothing that can happen."""
        now = time.monotonic()
        if now - self._moved < LOOK_SECONDS:
            return
        tasks = self._tasks()
        judge_acts = tasks is None and self._judge.outcome is None and self._judge.sleeping_tasks() is None
        if judge_acts and self._program.sleeping_tasks() is not None:
            self._waited_for_judge += now - max(self._moved, self._looked)
        self._looked = now
        if tasks is None or tasks != self._seen[0]:
            self._seen = tasks, now
        elif now - self._seen[1] >= IDLE_SECONDS and self._seen[1] >= self._moved:
            self._idle = True
            self._program.kill()
            self._judge.kill()

    def _tasks(self) -> frozenset[Task] | None:
        """Return the threads of the boxes that still run, if all of them wait."""
        found: frozenset[Task] = frozenset()
        for box in (self._program, self._judge):
            if box.outcome is None:
                tasks = box.sleeping_tasks()
                if tasks is None:
                    return None
                found |= tasks
        return found
