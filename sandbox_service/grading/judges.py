"""Runs checker programs: each in a box of its own, after the submission's box has ended.

The checker's box has the test's input, its answer and the submission's output as read-only files. It shares no file,
no uid and no sandbox with the submission. What the checker says is read by judging/judges.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from sandbox_service import languages
from sandbox_service.errors import SandboxError
from sandbox_service.grading.faults import BadCheckerError
from sandbox_service.grading.runner import Runner
from sandbox_service.judging import judges, standard_checkers
from sandbox_service.judging.judges import ANSWER, FEEDBACK_FILES, INPUT, OUTPUT, PROTOCOLS, Judgement, Report
from sandbox_service.languages.base import Runtime, Source
from sandbox_service.languages.judge_libraries import LANGUAGES, JudgeLibraries
from sandbox_service.sandbox.base import JUDGING, Check, JudgeCall, Outcome
from sandbox_service.sandbox.judge_folder import JudgeFolder
from sandbox_service.schema import Checker, JudgedTest, JudgeProgram, Limits, Submission, Verdict

COMPILING = Limits(cpu_seconds=60, wall_seconds=200, memory_bytes=2 << 30)  # a testlib checker takes eight seconds
MAIN = "judge.py"
MOST_FEEDBACK_BYTES = 64 << 10
MOST_NEXT_BYTES = 64 << 20
NEXT_PASS = "nextpass.in"  # noqa: S105  not a password


_Called = tuple[list[str], dict[str, bytes], JudgeCall]
"""The names of the files of a test, the judge's own files, and its call."""


class Judge:
    """A judge program of the submission that is being graded, prepared to run. A context manager."""

    def __init__(
        self, runner: Runner, runtimes: Mapping[str, Runtime], program: JudgeProgram, bench: JudgeBench
    ) -> None:
        """Prepare the judge, which may compile it.

        Args:
            runner: where it runs.
            runtimes: those of the slot.
            program: the judge.
            bench: what the slot has for judges.

        Raises:
            SandboxError: it could not be prepared.
        """
        language = languages.find(program.language)
        runtime = runtimes[language.runtime or ""]
        beside = {} if language.name == "python" else _files_beside(program)  # those are in the folder
        if language.family in LANGUAGES:
            beside |= bench.libraries.missing_from({"": program.program} | beside)
        source = Source(language.name, program.program, program.limits, beside, COMPILING)
        self.program = self._of_all_tests = program
        self._of_tests: dict[tuple[tuple[str, ...], float | None], JudgeProgram] = {}
        self.folder = bench.folders.current()
        self.kind = runtime.judge_kind_of(source)
        self.limits = runtime.limits_of(source)
        self._is_python = language.name == "python"
        self._is_inside = language.family in LANGUAGES and judges.stays_inside(program)
        self._judged: tuple[Outcome | None, Judgement] = None, Judgement(Verdict.IE)
        self._left: frozenset[str] = frozenset()
        self._folders = bench.folders
        self._runner = runner
        self._calls: dict[tuple[tuple[str, ...], bool, tuple[str, ...], int], _Called] = {}
        self._beside: tuple[Limits | None, Limits, Limits] = None, self.limits, self.limits
        self._prepared = runtime.prepare(source, runner, once=False)
        self.source = self._prepared.__enter__()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._prepared.__exit__(None, None, None)

    def turn_to(self, test: JudgedTest) -> None:
        """Judge a test: with the arguments and the full score that it states.

        Args:
            test: the test.
        """
        if not test.asks_for_a_judge:
            self.program = self._of_all_tests
            return
        key = tuple(test.judge_arguments), test.full_score
        if key not in self._of_tests:
            program = self._of_all_tests
            changes: dict[str, object] = {"arguments": [*program.arguments, *test.judge_arguments]}
            if test.full_score is not None:
                changes["full_score"] = test.full_score
            self._of_tests[key] = program.model_copy(update=changes)
        self.program = self._of_tests[key]

    def begin(self) -> None:
        """Empty the folder for a test; a judge's files in it are kept from pass to pass."""
        self.folder = self._folders.take()

    def check(
        self,
        test: str,
        stdin: bytes,
        output: bytes,
        answer: bytes,
        first: bytes | None = None,
        ran: Outcome | None = None,
    ) -> tuple[Judgement, float]:
        """Run it as a checker of one output.

        Args:
            test: what the message calls the test.
            stdin: the input of the program.
            output: what the program printed.
            answer: the test's answer.
            first: the test's input, if `stdin` is that of a later pass.
            ran: its outcome, if it ran after the program; see `check_after`.

        Returns:
            The judgement, AC or WA, and the CPU seconds that it took.

        Raises:
            BadCheckerError: the checker failed.
            SandboxError: the sandbox failed.
        """
        self.check_compiled(test)
        if ran is None or not self._runner.counts(ran, self.limits):
            ran = self._run_on(stdin, output, answer)
        found = self.judgement(ran)
        if found.verdict != Verdict.IE:
            return found, ran.cpu_seconds
        provoked = self.can_be_provoked(ran) and self._decides(stdin if first is None else first, answer)
        return self.failed(test, found, provoked=provoked), ran.cpu_seconds

    def follows(self, kind: str | None) -> bool:
        """Return whether it can run after a program of this kind, in the same launcher; see `check_after`."""
        return self.kind == f"{JUDGING}{kind}" and self.source.refused is None

    def check_after(self, stdin: bytes, answer: bytes) -> Check:
        """Write the judge's files but the output, which a program is to write.

        Args:
            stdin: the input of the program.
            answer: the test's answer.

        Returns:
            The call of the judge after that program.
        """
        call = self.fill({INPUT: stdin, OUTPUT: b"", ANSWER: answer}, interacts=False)
        output = self.folder.output(judges.named(self.program, OUTPUT))
        return Check(self.source, call, self.limits, PROTOCOLS[self.program.protocol].output_on_stdin, output)

    def _run_on(self, stdin: bytes, output: bytes, answer: bytes) -> Outcome:
        on_stdin = output if PROTOCOLS[self.program.protocol].output_on_stdin else b""
        call = self.fill({INPUT: stdin, OUTPUT: output, ANSWER: answer}, interacts=False)
        return self._run(call, on_stdin)

    def can_be_provoked(self, outcome: Outcome) -> bool:
        """Return whether the submission's output can cause a failure with this outcome."""
        return self.source.refusal() is None and not judges.blames_the_test(self.program, outcome)

    def _decides(self, stdin: bytes, answer: bytes) -> bool:
        """Return whether it decides about outputs that no submission wrote: the test's answer, or else an empty one."""
        for output in dict.fromkeys((answer, b"")):
            self.begin()
            ran = self._run_on(stdin, output, answer)
            if self.judgement(ran).verdict != Verdict.IE:
                return True
            if ran.timed_out:  # it is too slow for its own answer: another try would cost as much
                return False
        return False

    def failed(self, test: str, found: Judgement, *, provoked: bool) -> Judgement:
        """Return WA for a failure that the submission provoked, if the judge program says so.

        Args:
            test: what the message calls the test.
            found: the judgement, which is IE.
            provoked: the judge failed on what the submission wrote, and does not fail without that.

        Raises:
            BadCheckerError: any other failure.
        """
        if provoked and self.program.provoked_failure == "reject":
            return Judgement(Verdict.WA, message=f"the judge failed on this output: {found.message}", provoked=True)
        failure = self.failure(test, found)
        failure.provoked = provoked
        raise failure

    def check_compiled(self, test: str) -> None:
        """Raise BadCheckerError if it is known not to compile.

        Args:
            test: what the message calls the test.
        """
        if self.source.refused is not None:
            raise self.failure(test, Judgement(Verdict.IE, message=f"it does not compile: {self.source.refused}"))

    def fill(self, files: Mapping[str, bytes], *, interacts: bool) -> JudgeCall:
        """Write the judge's files into its folder, and return its command line.

        Args:
            files: the input, the answer and the output.
            interacts: it is called as an interactor.

        Returns:
            The call.
        """
        names, folder = tuple(files), self.folder
        key = names, interacts, tuple(self.program.arguments), folder.fd
        if key not in self._calls:
            self._calls[key] = self._called(names, interacts=interacts)
        named, own, call = self._calls[key]
        folder.fill({**dict(zip(named, files.values(), strict=True)), **own})
        return call

    def _called(self, names: tuple[str, ...], *, interacts: bool) -> _Called:
        """Return its call for files of these names: the same for all tests."""
        named, folder = [judges.named(self.program, name) for name in names], self.folder.fd
        if self._is_inside:
            arguments = judges.arguments(self.program, interacts=interacts, folder=judges.CURRENT)
            return named, {}, JudgeCall(folder, tuple(arguments), (), is_inside=True)
        arguments = judges.arguments(self.program, interacts=interacts)
        if not self._is_python:
            return named, {}, JudgeCall(folder, tuple(arguments), (*named, "feedback"))
        own = {name: text.encode() for name, text in _files_beside(self.program).items() if name not in named}
        links = [*named, *own, "feedback"]
        own["order.json"] = self._order(arguments, links, interacts=interacts)
        return named, own, JudgeCall(folder, tuple(arguments), tuple(links))

    def limits_beside(self, limits: Limits) -> tuple[Limits, Limits]:
        """Return the limits of a program and of this judge beside it: each may wait for the other one's CPU time.

        Args:
            limits: the program's own.
        """
        if self._beside[0] is not limits:
            wall = limits.wall + self.limits.cpu_seconds
            program = limits.model_copy(update={"wall_seconds": wall})
            judge = self.limits.model_copy(update={"wall_seconds": wall + self.limits.wall})
            self._beside = limits, program, judge
        return self._beside[1], self._beside[2]

    def _order(self, arguments: list[str], links: list[str], *, interacts: bool) -> bytes:
        """Return the call of a judge in Python, as guest/judge.py reads it."""
        function = None
        if PROTOCOLS[self.program.protocol].functions:
            function = "interact" if interacts else "check"
        order = {
            "main": self.program.main or MAIN,
            "arguments": arguments,
            "links": links,
            "function": function,
            "names": [INPUT, ANSWER] if interacts else [INPUT, OUTPUT, ANSWER],
        }
        return json.dumps(order).encode()

    def _run(self, call: JudgeCall, stdin: bytes) -> Outcome:
        source, limits = self.source, self.limits
        return self._runner.run(
            self.kind, limits, lambda jail: jail.run_judge(source, call, stdin, limits), lambda outcome: outcome
        )

    def failure(self, test: str, found: Judgement) -> BadCheckerError:
        """Return the error for a judge that failed.

        Args:
            test: what the message calls the test.
            found: its judgement.
        """
        return BadCheckerError(f"{test}: the {self.program.protocol} judge failed: {found.message}")

    def judgement(self, outcome: Outcome) -> Judgement:
        """Return the judge's decision, by its end and its feedback; IE if it failed.

        Args:
            outcome: its end. Its feedback is read when this is asked first, and must be there until then.
        """
        if self._judged[0] is not outcome:
            self._judged = outcome, self._judgement(outcome)
        return self._judged[1]

    def _judgement(self, outcome: Outcome) -> Judgement:
        self._left = self.folder.left()
        if (refusal := self.source.refusal()) is not None:
            return Judgement(Verdict.IE, message=f"it does not compile: {refusal}")
        return judges.judgement(self.program, self.limits, self._report(outcome))

    @property
    def has_passes(self) -> bool:
        """True if the protocol knows several passes."""
        return self.program.protocol in ("kattis", "domjudge")

    def _report(self, outcome: Outcome) -> Report:
        left = self._left.intersection(FEEDBACK_FILES)
        if not left:
            return Report(outcome, {})
        read = {name: self.folder.feedback(name, MOST_FEEDBACK_BYTES + 1) for name in left}
        found = {name: content[:MOST_FEEDBACK_BYTES] for name, content in read.items() if content is not None}
        whole = {name for name, content in found.items() if len(content) == len(read[name] or b"")}
        return Report(outcome, found, left - whole)

    def next_pass(self) -> bytes | None:
        """Return the input of the next pass that the judge left, and remove it; None if this was the last pass.

        Raises:
            BadCheckerError: it is too large, or no file.
        """
        if NEXT_PASS not in self._left:
            return None
        content = self.folder.feedback(NEXT_PASS, MOST_NEXT_BYTES + 1)
        if content is None:
            raise BadCheckerError(f"the judge left a {NEXT_PASS} that is no regular file")
        if len(content) > MOST_NEXT_BYTES:
            raise BadCheckerError(f"{NEXT_PASS} has more than {MOST_NEXT_BYTES} bytes")
        self.folder.remove(NEXT_PASS)
        return content


class Judges:
    """The judges of one submission, prepared when they are first needed. A context manager."""

    def __init__(
        self, runner: Runner, runtimes: Mapping[str, Runtime], submission: Submission, bench: JudgeBench
    ) -> None:
        self._runner, self._runtimes, self._bench = runner, runtimes, bench
        self._submission = submission
        self.replacement: Checker | None = None
        self.notes: list[str] = []
        if isinstance(submission.checker, JudgeProgram) and (found := standard_checkers.known(submission.checker)):
            name, self.replacement = found
            note = f"the checker program is testlib's {name}; the built-in checker {self.replacement.type} replaced it"
            self.notes.append(note)
        self._made: dict[str, Judge] = {}

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        for judge in self._made.values():
            judge.__exit__()

    @property
    def checker(self) -> Judge | None:
        """The checker program; None if the submission has none, or a built-in checker replaces it."""
        return None if self.replacement else self._judge("checker", self._submission.checker)

    @property
    def interactor(self) -> Judge | None:
        """The interactor; None if the submission has none."""
        return self._judge("interactor", self._submission.interactor)

    def _judge(self, name: str, program: object) -> Judge | None:
        if not isinstance(program, JudgeProgram):
            return None
        if name not in self._made:
            self._made[name] = Judge(self._runner, self._runtimes, program, self._bench)
        return self._made[name]


class JudgeBench:
    """The things that a slot has for judges: a folder and headers."""

    def __init__(self, libraries: JudgeLibraries | None = None) -> None:
        self.folders = Folders()
        self.libraries = libraries or JudgeLibraries("")


class Folders:
    """The folder of a slot, made when it is first needed and replaced when it cannot be emptied."""

    def __init__(self) -> None:
        self._folder: JudgeFolder | None = None

    def current(self) -> JudgeFolder:
        """Return the folder as it is. Raises SandboxError."""
        if self._folder is None:
            self._folder = JudgeFolder()
        return self._folder

    def take(self) -> JudgeFolder:
        """Return the folder, empty. Raises SandboxError."""
        if self._folder is not None:
            try:
                self._folder.clear()
            except SandboxError:
                self.close()
        return self.current()

    def close(self) -> None:
        """End the folder."""
        if self._folder is not None:
            with suppress(OSError):
                self._folder.close()
            self._folder = None


def _files_beside(program: JudgeProgram) -> dict[str, str]:
    """Return the judge's files but the one that is run."""
    return {name: text for name, text in (program.files or {}).items() if name != program.main}
