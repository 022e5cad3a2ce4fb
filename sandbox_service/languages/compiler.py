"""Compiles sources in boxes, once each: the results are kept in the slot and on the machine.

A result is kept under the SHA-256 of the language, the commands, the compiler's identity, the source, the files and the
limits. Programs and refusals are kept. A compiler that was slow, crashed or was killed is not remembered, nor one that
missed a header or library, which may be installed later: the next submission of the source tries again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import signal
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from sandbox_service.errors import SandboxError
from sandbox_service.languages import headers, libc_start, plain_java, toolchains
from sandbox_service.languages.base import Runs, Source
from sandbox_service.languages.builds import JAR, Build, NotABuildError, jar_of, program_of, unpacked
from sandbox_service.languages.drivers import scan
from sandbox_service.languages.launcher import BUILDER
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.languages.rows import SOURCES, Language, Toolchain
from sandbox_service.sandbox import files
from sandbox_service.sandbox.base import Outcome, Sandbox
from sandbox_service.sandbox.executable import patience_of
from sandbox_service.sandbox.launch_wire import ENVIRONMENT, NOTHING, Box, BoxFile, Request
from sandbox_service.sandbox.outcomes import outcome_of
from sandbox_service.sandbox.pool import ProgramKilledJailError
from sandbox_service.schema import Limits

log = logging.getLogger(__name__)

KIND = "compile"
FORMAT = "4"  # of a key; a change makes all entries stale
INSIDE = Path(__file__).resolve().parent / "inside"
WORDS_BYTES = 4096
TMP_BYTES = 256 << 20
STACK_BYTES = 64 << 20
PROCESSES = 32
TASKS = 128
NOT_STARTED, NOTHING_MADE, SIGNALLED = 125, 126, 128  # exit codes of guest/builder.c

LOG, MADE, HEADER = 1, 3, 4  # descriptors of a compile box
CRASHED = (b"signal terminated program", b"internal compiler error", b"SIGSEGV", b"rustc interrupted by")
ABSENT = (b"No such file or directory", b"cannot find -l", b"does not exist", b"can't find crate", b"could not import")
"""What compilers say of a header or library that is not installed."""
_SPACE = re.compile(rb"[ \t]++\n")
_OF_WINDOWS = re.compile(r"\b__int64\b|(%[-+ #0]*+(?:\d++|\*)?(?:\.(?:\d++|\*)?)?)I64(?=[diouxX])")


class Compiler:
    """Compiles sources for one slot."""

    def __init__(self, cache: MachineCache, kept_bytes: int) -> None:
        """Compile nothing yet.

        Args:
            cache: that of the machine.
            kept_bytes: the most bytes of programs that the slot itself keeps.
        """
        self._cache = cache
        self._kept: OrderedDict[str, Build] = OrderedDict()
        self._kept_bytes = kept_bytes
        self._builder = -1
        self._headers: dict[str, int | None] = {}
        self._start = b""

    def build(self, language: Language, source: Source, runs: Runs) -> Build:
        """Return the result of compiling a source, from a cache or from a box.

        Args:
            language: its row.
            source: the source.
            runs: runs the box.

        Raises:
            SandboxError: the box failed, or the compiler is missing.
        """
        toolchain = language.toolchain
        assert toolchain is not None
        if not toolchain.compile:
            return Build(None)
        key = self._key(language, toolchain, source)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        with self._cache.locked(key):
            found = self._read(key)
            if found is None:
                found, keep = self._compiled(toolchain, source, runs)
                if not keep:
                    return found
                self._cache.put(key, found.encoded())
        self._keep(key, found)
        return found

    def _read(self, key: str) -> Build | None:
        body = self._cache.get(key)
        try:
            return None if body is None else Build.decoded(body)
        except NotABuildError:
            return None

    def _keep(self, key: str, build: Build) -> None:
        self._kept[key] = build
        total = sum(each.size for each in self._kept.values())
        while total > self._kept_bytes and self._kept:
            total -= self._kept.popitem(last=False)[1].size

    def _compiled(self, toolchain: Toolchain, source: Source, runs: Runs) -> tuple[Build, bool]:
        """Compile in a box; return the result and whether it may be kept."""
        limits = source.compile_limits.model_copy(update={"processes": PROCESSES})
        header = self._header(toolchain)
        try:
            outcome, made = runs.run(
                KIND, limits, lambda jail: self._run(jail, toolchain, source, limits, header), lambda found: found[0]
            )
        except ProgramKilledJailError:
            return Build("the compiler ended its sandbox"), False
        if outcome.exit_code == NOT_STARTED:
            raise SandboxError(f"{toolchain.probe} cannot be started: is {toolchain.package} installed?")
        refusal, keep = _refusal(outcome, limits)
        if refusal is not None:
            return Build(refusal), keep
        try:
            return _made(toolchain, source, made), True
        except NotABuildError:
            return Build("the compiler made something else than a program"), False

    def _run(
        self, jail: Sandbox, toolchain: Toolchain, source: Source, limits: Limits, header: int | None
    ) -> tuple[Outcome, bytes]:
        contents = self._contents(toolchain, source)
        box_fds = files.create_all(b"", b"", *contents.values())
        words, made = box_fds[:2]
        try:
            fds = [self._builder_fd(), *box_fds, *([header] if header is not None else [])]
            box = _box(toolchain, source, contents, limits, has_header=header is not None)
            request = Request((box,), limits.wall, patience_of(limits))
            launched = jail.launch(request, fds, limits)
            outcome = outcome_of(launched.records[0], words, words, limits)
            found = files.read(made, limits.output_bytes + 1) if outcome.exit_code == 0 else b""
            return outcome, found
        finally:
            files.close_all(box_fds)

    def _key(self, language: Language, toolchain: Toolchain, source: Source) -> str:
        """Return the SHA-256 of all inputs of a compilation: source, files, command, compiler and limits."""
        what = [
            FORMAT,
            language.name,
            list(toolchain.compile),
            toolchains.identity(toolchain),
            [
                hashlib.sha256(content).hexdigest()
                for content in (*self._beside(toolchain).values(), *_plainness(toolchain))
            ],
            source.compile_limits.model_dump(),
            source.text,
            sorted(source.files.items()),
        ]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()

    def _contents(self, toolchain: Toolchain, source: Source) -> dict[str, bytes]:
        """Return the files of a compile box by name."""
        given = {name: _written(toolchain, text) for name, text in source.files.items()}
        return given | self._beside(toolchain) | {source_name(toolchain, source.text): _written(toolchain, source.text)}

    def _beside(self, toolchain: Toolchain) -> dict[str, bytes]:
        """Return our own files of a compile box by name."""
        beside = {name: (INSIDE / name).read_bytes() for name in toolchain.beside}
        if "start.o" in toolchain.compile[0]:
            self._start = self._start or libc_start.start_object(self._cache)
            beside["start.o"] = self._start
        return beside

    def _builder_fd(self) -> int:
        if self._builder < 0:
            self._builder = files.create(BUILDER.read_bytes(), sealed=True)
        return self._builder

    def _header(self, toolchain: Toolchain) -> int | None:
        if not toolchain.header:
            return None
        if toolchain.header not in self._headers:
            self._headers[toolchain.header] = headers.opened(
                self._cache, toolchain.compile[0], toolchains.identity(toolchain)
            )
        return self._headers[toolchain.header]


def source_name(toolchain: Toolchain, text: str) -> str:
    """Return the name of a source's file; Java's is that of its public class.

    Args:
        toolchain: that of the language.
        text: the source.
    """
    if toolchain.source != "Main.java":
        return toolchain.source
    return f"{scan.public_type(text) or 'Main'}.java"


def _written(toolchain: Toolchain, text: str) -> bytes:
    """Return a source as the compiler reads it: without a byte order mark, which javac refuses."""
    text = text.removeprefix("\ufeff")
    if toolchain.reads_windows and _OF_WINDOWS.search(text):
        text = _as_on_linux(text)
    return text.encode("utf-8", "surrogatepass")


def _as_on_linux(text: str) -> str:
    """Return a source in C or C++ with what Windows, on which Codeforces judges, calls otherwise.

    `__int64` is `long long`. In formats its length is `I64`: to glibc `%I64d` is an int in 64 columns, which no program
    means. A remainder by a variable of such a name stays.
    """
    code = scan.masked(text, "cpp")

    def renamed(found: re.Match[str]) -> str:
        is_code = code[found.start()] == found[0][0]
        if found[1] is None:
            return "long long" if is_code else found[0]
        return found[0] if is_code else f"{found[1]}ll"

    return _OF_WINDOWS.sub(renamed, text)


def _box(
    toolchain: Toolchain, source: Source, contents: Mapping[str, bytes], limits: Limits, *, has_header: bool
) -> Box:
    first = 3  # after the builder, the compiler's messages and its result
    box_files = [BoxFile(name, first + at) for at, name in enumerate(contents)]
    descriptors = [NOTHING, 1, 1, 2]
    if has_header:
        descriptors.append(first + len(contents))
        box_files.append(BoxFile(headers.LINK, target=f"/proc/self/fd/{HEADER}"))
    return Box(
        executable=0,
        arguments=("builder", toolchain.made or ".", *_commands(toolchain, source)),
        descriptors=tuple(descriptors),
        cpu_seconds=limits.cpu_seconds,
        data_bytes=limits.memory_bytes,
        resident_bytes=limits.memory_bytes,
        stack_bytes=STACK_BYTES,
        file_bytes=limits.output_bytes + 1,
        tmp_bytes=TMP_BYTES,
        processes=PROCESSES,
        tasks=TASKS,
        files=tuple(box_files),
        environment={**ENVIRONMENT, **toolchains.compile_environment(toolchain)},
    )


def _commands(toolchain: Toolchain, source: Source) -> list[str]:
    """Return the words of all commands for the builder, with the names of the sources in them."""
    main = source_name(toolchain, source.text)
    suffixes = (os.path.splitext(toolchain.source)[1], *toolchain.suffixes)  # noqa: PTH122
    sources = [main, *(name for name in sorted(source.files) if name.endswith(suffixes) and name != main)]
    words: list[str] = []
    for command in toolchains.compile_commands(toolchain):
        words += [";"] if words else []
        for word in command:
            words += sources if word == SOURCES else [main if word == toolchain.source else word]
    return words


def _refusal(outcome: Outcome, limits: Limits) -> tuple[str | None, bool]:
    """Return why a compiler gave no program, or None; and whether it would say the same again."""
    if outcome.timed_out or outcome.cpu_seconds > limits.cpu_seconds:
        return f"the compiler did not get through the source within {limits.cpu_seconds:g} s of CPU time", False
    if outcome.stdout_bytes > limits.output_bytes or outcome.exit_code == SIGNALLED + signal.SIGXFSZ:
        return f"the compiler wrote more than {limits.output_bytes} bytes", False
    if outcome.exit_code == 0:
        return None, True
    if outcome.peak_memory_bytes >= limits.memory_bytes:
        return f"the compiler used more than {limits.memory_bytes >> 20} MiB", False
    if outcome.exit_code == NOTHING_MADE:
        return "the compiler made no program", False
    words = said(outcome.stdout)
    if outcome.exit_code is None or outcome.exit_code > SIGNALLED or any(each in outcome.stdout for each in CRASHED):
        return f"the compiler crashed\n{words}"[:WORDS_BYTES], False
    keep = not any(each in outcome.stdout for each in ABSENT)
    return words or f"the compiler ended with exit code {outcome.exit_code}", keep


def said(words: bytes) -> str:
    """Return the beginning of a compiler's words, without the paths of its box.

    Args:
        words: what it wrote to stdout and stderr.
    """
    text = _SPACE.sub(b"\n", words[: 2 * WORDS_BYTES].replace(b"/tmp/", b"")).decode("utf-8", "replace")
    return text.strip().encode()[:WORDS_BYTES].decode("utf-8", "ignore")


def _plainness(toolchain: Toolchain) -> list[bytes]:
    """Return the code that decides which programs may share a box, by which a build is known too."""
    return [Path(plain_java.__file__).read_bytes()] if toolchain.shared else []


def _made(toolchain: Toolchain, source: Source, made: bytes) -> Build:
    """Return a program. Raises NotABuildError."""
    if not toolchain.made:
        return Build(None)
    if toolchain.makes_sources:
        return Build(None, tuple(sorted(unpacked(made).items())))
    if toolchain.source != "Main.java":
        return Build(None, ((toolchain.made, made),))
    classes = unpacked(made)
    program = program_of(classes)
    if not program:
        return Build("the source defines no class")
    main = source_name(toolchain, source.text).removesuffix(".java")
    return Build(None, ((JAR, jar_of(classes, main)),), plain_java.is_plain(program))
