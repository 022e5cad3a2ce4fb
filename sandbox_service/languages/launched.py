"""The runtime of all languages but Python: compiles a source once, and runs the result in a launcher's boxes.

There are seven kinds of launcher. `native` shows no folder and runs static programs. `machine` shows /usr, for
interpreters and virtual machines. `native-processes` and `machine-processes` let boxes fork. `compile` runs compilers.
`judge-native` and `judge-machine` run judges, with another uid than programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sandbox_service import languages
from sandbox_service.errors import SandboxError, UnsupportedLanguageError
from sandbox_service.languages import compiler, toolchains
from sandbox_service.languages.base import Runs, Source
from sandbox_service.languages.builds import Build
from sandbox_service.languages.compiler import Compiler
from sandbox_service.languages.launcher import LauncherZygote
from sandbox_service.languages.rows import LANGUAGES, SHOWN, Toolchain
from sandbox_service.sandbox import files, huge_page
from sandbox_service.sandbox.base import JUDGING
from sandbox_service.sandbox.executable import Executable
from sandbox_service.sandbox.file_uses import native_uses_files
from sandbox_service.schema import Limits

MIB = 1 << 20
LEAST_HEAP_MIB = 16
JUDGE_KINDS = (f"{JUDGING}native", f"{JUDGING}machine")


@dataclass(frozen=True)
class LaunchedRuntime:
    """Runs sources of every language that has a toolchain; see `base.Runtime`.

    Attributes:
        compiler: the slot's.
        cpu_factors: by language, what CPU and wall time limits are multiplied by.
    """

    compiler: Compiler
    cpu_factors: Mapping[str, float]

    @cached_property
    def zygotes(self) -> dict[str, LauncherZygote]:
        """The kinds of launcher."""
        calls = tuple(sorted({call for each in LANGUAGES if each.toolchain for call in each.toolchain.calls}))
        made = (
            LauncherZygote("native"),
            LauncherZygote("native-processes", may_fork=True),
            LauncherZygote("machine", shown=SHOWN, calls=calls),
            LauncherZygote("machine-processes", may_fork=True, shown=SHOWN, calls=calls),
            LauncherZygote(f"{JUDGING}native"),
            LauncherZygote(f"{JUDGING}machine", shown=SHOWN, calls=calls),
            LauncherZygote(compiler.KIND, may_fork=True, shown=SHOWN, calls=calls),
        )
        return {zygote.kind: zygote for zygote in made}

    def kind_of(self, source: Source) -> str:
        """Return the kind of launcher for a source."""
        toolchain = _toolchain(source)
        room = "machine" if toolchain.run else "native"
        return f"{room}-processes" if max(source.limits.processes, toolchain.needs.processes) > 1 else room

    def judge_kind_of(self, source: Source) -> str:
        """Return the kind of launcher for a judge."""
        return f"{JUDGING}machine" if _toolchain(source).run else f"{JUDGING}native"

    def limits_of(self, source: Source) -> Limits:
        """Return the limits, with the memory that the virtual machine itself takes, and the language's time factor."""
        limits, toolchain = source.limits, _toolchain(source)
        memory, processes = toolchain.memory_bytes, max(limits.processes, toolchain.needs.processes)
        factor = self._time_factor(source.language)
        if factor == 1.0 and not memory and processes == limits.processes:
            return limits
        changed = {
            "processes": processes,
            "memory_bytes": limits.memory_bytes + memory,
            "cpu_seconds": limits.cpu_seconds * factor,
            "wall_seconds": limits.wall * factor,
        }
        return limits.model_copy(update=changed)

    def _time_factor(self, language: str) -> float:
        """Return the language's own factor, or else that of the language of which it is another standard."""
        return self.cpu_factors.get(language, self.cpu_factors.get(languages.find(language).family, 1.0))

    def described(self, source: Source) -> str:
        """Return language, version and flags."""
        return toolchains.described(languages.find(source.language))

    def prepare(self, source: Source, runs: Runs, *, once: bool) -> Executable:  # noqa: ARG002
        """Return the program: compiled, or from a cache. It is kept however often it runs, also `once`."""
        language = languages.find(source.language)
        try:
            toolchains.require(language)
        except UnsupportedLanguageError as error:  # the request was accepted: never the submission's fault
            raise SandboxError(str(error)) from None
        build = self.compiler.build(language, source, runs)
        if build.refusal is not None:
            return Executable.refusing(build.refusal)
        return _executable(_toolchain(source), source, build)


def _toolchain(source: Source) -> Toolchain:
    toolchain = languages.find(source.language).toolchain
    assert toolchain is not None
    return toolchain


def _executable(toolchain: Toolchain, source: Source, build: Build) -> Executable:
    parts = dict(build.parts)
    if not toolchain.run:
        uses_files = native_uses_files((source.text, *source.files.values()))
        made = huge_page.create(parts[toolchain.made])
        return Executable(made, ("solution",), needs=toolchain.needs, mounts=uses_files or source.limits.processes > 1)
    if toolchain.makes_sources or not toolchain.made:
        text = {**source.files, compiler.source_name(toolchain, source.text): source.text}
        parts = {name: each.encode("utf-8", "surrogatepass") for name, each in text.items()} | parts
    heap = max(LEAST_HEAP_MIB, source.limits.memory_bytes // MIB)
    command = [word.replace("{heap}", str(heap)) for word in toolchain.run]
    contents = {name: _sealed(content) for name, content in parts.items()}
    shared = toolchain.shared if build.can_share else ()
    return Executable(command[0], command, contents, toolchain.needs, shared=shared)


def _sealed(content: bytes) -> int:
    return files.create(content, sealed=True)
