"""The languages of submissions, a row of data each.

A row has the commands that compile and run a source, and the needs of its programs; base.py's runtimes read it. The
commands are those that contests use: optimised, with ONLINE_JUDGE defined. The fence tags of completions are in
judging/extraction.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox_service.sandbox.executable import Needs
from sandbox_service.sandbox.launch_wire import ENVIRONMENT

MIB = 1 << 20
TMP = "/tmp"  # noqa: S108  the box's own

# parts of a command that stand for others
SOURCES = "{sources}"
HOME = "{home}"
SHOWN = (
    "/usr",
    "/etc/alternatives",
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/mono",
)
"""Folders that the rooms of compilers and interpreters show."""

CFLAGS = ("-O2", "-DONLINE_JUDGE", "-pthread", "-w", "-fdiagnostics-color=never", "-fmax-errors=20")
LEAN = "-Wl,-z,noseparate-code,-z,norelro,--build-id=none,--gc-sections"
STATIC = ("-static", "-s", LEAN, "-o", "out", SOURCES, "start.o", "-lm")

BAD_ALLOC = (b"std::bad_alloc",)
GO = "/usr/lib/go/pkg/tool/linux_amd64"


@dataclass(frozen=True)
class Toolchain:
    """The commands that make a program of a source and run it.

    Attributes:
        probe: the program without which the language is missing.
        package: the Debian packages that have it.
        source: the name of the source's file.
        compile: commands, run one after the other in /tmp; `{sources}` stands for the source and the files of its kind,
            `{home}` for the folder above the `bin` of the probe.
        made: what they make there, a file or a folder; empty: nothing, they only check the source.
        makes_sources: that is a folder of sources, which run with the other files beside the submission.
        run: the command that runs what was made; empty: it is executable.
        shared: words behind that command for a box that runs several tests; empty: a box runs one.
        suffixes: other suffixes of sources beside the main one.
        version: the command that prints the version.
        header: the C++ standard whose header `bits/stdc++.h` is compiled beforehand.
        beside: files of `languages/inside` for the compiler.
        needs: what its programs need.
        memory_bytes: resident memory of the virtual machine, beyond the limit of the submission.
        calls: system calls that its programs use beside those of all boxes.
        compile_environment: variables of the compiler.
        reads_windows: its sources may have what C and C++ on Windows have: `__int64`, `%I64d`.
        needs_root: the compiler examines itself in /proc/self, which without root is the box's first process for all.
        hello: a program that prints `hello`.
    """

    probe: str
    package: str
    source: str
    hello: str
    compile: tuple[tuple[str, ...], ...] = ()
    made: str = ""
    makes_sources: bool = False
    run: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    header: str = ""
    beside: tuple[str, ...] = ()
    needs: Needs = field(default_factory=Needs)
    memory_bytes: int = 0
    calls: tuple[str, ...] = ()
    compile_environment: tuple[tuple[str, str], ...] = ()
    reads_windows: bool = False
    needs_root: bool = False

    @property
    def remedy(self) -> str:
        """The command for a machine without the language."""
        return f"apt-get install {self.package}" + (", and start proctor as root" if self.needs_root else "")

    @property
    def is_compiled(self) -> bool:
        """True if the source is compiled to a program; the sources of other languages are only checked."""
        return bool(self.made) and self.source not in self.run

    @property
    def flags(self) -> str:
        """The command that compiles a source, or else runs it, as documents show it."""
        command = self.compile[0] if self.is_compiled else self.run
        return " ".join(word for word in command if "{" not in word and not word.startswith("-Wl,"))


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        name: as the API has it.
        aliases: other names that a submission may give.
        runtime: the name of the runtime that runs it; None if nothing is run.
        toolchain: of a language that a launcher runs.
        standard_of: the language of which it is another standard.
    """

    name: str
    aliases: tuple[str, ...] = ()
    runtime: str | None = None
    toolchain: Toolchain | None = None
    standard_of: str = ""

    @property
    def family(self) -> str:
        """The name that drivers, readers of test programs and fence tags know: C++'s for each of its standards."""
        return self.standard_of or self.name


NO_LOCALES = {**ENVIRONMENT, "LC_ALL": "C"}
"""For native programs: their room has no /usr, so that any other locale is RTE in C++'s `std::locale("")`."""


def _c(standard: str) -> Toolchain:
    return Toolchain(
        probe="/usr/bin/gcc",
        package="gcc libc6-dev",
        source="main.c",
        compile=(("/usr/bin/gcc", f"-std={standard}", *CFLAGS, *STATIC),),
        made="out",
        version=("/usr/bin/gcc", "-dumpfullversion"),
        needs=Needs(environment=NO_LOCALES),
        reads_windows=True,
        hello='#include <stdio.h>\nint main(void) { puts("hello"); }\n',
    )


def _cpp(standard: str) -> Toolchain:
    return Toolchain(
        probe="/usr/bin/g++",
        package="g++",
        source="main.cpp",
        suffixes=(".cc", ".cxx", ".c++", ".C"),
        compile=(("/usr/bin/g++", f"-std={standard}", *CFLAGS, "-I.header", *STATIC),),
        made="out",
        version=("/usr/bin/g++", "-dumpfullversion"),
        header=standard,
        needs=Needs(out_of_memory=BAD_ALLOC, environment=NO_LOCALES),
        reads_windows=True,
        hello='#include <bits/stdc++.h>\nint main() { std::cout << "hello" << std::endl; }\n',
    )


NO_RESERVED_ZONE = "-XX:StackReservedPages=0"
"""Else the virtual machine, at an overflow, describes every frame of the stack in memory of its own: 1.5 GB for 256 MB
of stack, so that a recursion without end is MLE."""

LARGE_OLD_GENERATION = "-XX:NewRatio=5"
"""Codeforces' too. By default a third of the heap is for new objects, and an array of 70 % of the limit is MLE."""

JAVA = Toolchain(
    probe="/usr/bin/javac",
    package="default-jdk-headless",
    source="Main.java",
    compile=(
        (
            f"{HOME}/bin/java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx512m", "-m",
            "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-Xmaxerrs", "20",
            "-d", "out", SOURCES, "proctor/ProctorMain.java",
            "proctor/ProctorTests.java",
        ),
    ),
    made="out",
    run=(
        "/usr/bin/java", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx{heap}m", LARGE_OLD_GENERATION,
        NO_RESERVED_ZONE, "-DONLINE_JUDGE=true", "-cp", "solution.jar", "proctor.ProctorMain",
    ),
    shared=("--shared-box",),
    # without root /proc/self is the box's first process for all of them, in which neither the linker nor javac finds
    # the folder of its program
    compile_environment=(("LD_LIBRARY_PATH", f"{HOME}/lib"),),
    version=("/usr/bin/javac", "-version"),
    beside=("proctor/ProctorMain.java", "proctor/ProctorTests.java"),
    needs=Needs(
        # its main thread's stack has up to 256 MiB; a thread that programs make for recursion has up to 2 GiB
        reserved_bytes=2560 * MIB,
        stack_bytes=8 * MIB,
        out_of_memory=(b"java.lang.OutOfMemoryError", b"Could not reserve enough space"),
    ),
    memory_bytes=128 * MIB,
    hello='public class Main { public static void main(String[] a) { System.out.println("hello"); } }\n',
)  # fmt: skip

NODE_NEEDS = Needs(
    reserved_bytes=768 * MIB,
    stack_bytes=64 * MIB,
    out_of_memory=(
        b"JavaScript heap out of memory",
        b"Array buffer allocation failed",
        b"Fatal JavaScript out of memory",
    ),
)
NODE = ("/usr/bin/node", "--max-old-space-size={heap}", "--stack-size=60000")
PREPARE = ("/usr/bin/node", "--experimental-vm-modules", "--no-warnings", "prepare.cjs")

JAVASCRIPT = Toolchain(
    probe="/usr/bin/node",
    package="nodejs",
    source="main.js",
    compile=((*PREPARE, "main.js"),),
    made="out",
    makes_sources=True,
    run=(*NODE, "main.js"),
    version=("/usr/bin/node", "--version"),
    beside=("prepare.cjs",),
    needs=NODE_NEEDS,
    memory_bytes=96 * MIB,
    hello="console.log('hello')\n",
)

TYPESCRIPT = Toolchain(
    probe="/usr/share/nodejs/typescript/lib/typescript.js",
    package="nodejs node-typescript",
    source="main.ts",
    compile=((*PREPARE, SOURCES),),
    made="out",
    makes_sources=True,
    run=(*NODE, "main.js"),
    version=("/usr/bin/tsc", "--version"),
    beside=("prepare.cjs",),
    needs=NODE_NEEDS,
    memory_bytes=96 * MIB,
    hello="const word: string = 'hello'; console.log(word)\n",
)

GOLANG = Toolchain(
    probe="/usr/bin/go",
    package="golang-go",
    source="main.go",
    compile=(
        (f"{GO}/compile", "-p", "main", "-complete", "-trimpath", TMP, "-o", "main.o", SOURCES),
        (f"{GO}/link", "-s", "-w", "-o", "out", "main.o"),
    ),
    made="out",
    version=("/usr/bin/go", "version"),
    needs=Needs(reserved_bytes=256 * MIB, out_of_memory=(b"runtime: out of memory", b"cannot allocate memory")),
    memory_bytes=32 * MIB,
    hello='package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }\n',
    compile_environment=(("GOROOT", "/usr/lib/go"), ("CGO_ENABLED", "0")),
)

RUST = Toolchain(
    probe="/usr/bin/rustc",
    package="rustc-web",
    source="main.rs",
    compile=(
        (
            "/usr/bin/rustc", "--edition=2021", "-Copt-level=2", "-Ctarget-feature=+crt-static", "-Cstrip=symbols",
            "-Clinker=/usr/bin/cc", "-Awarnings", "--color=never", "--cfg", "ONLINE_JUDGE", "-o",
            "out", "main.rs",
        ),
    ),
    made="out",
    version=("/usr/bin/rustc", "--version"),
    needs=Needs(out_of_memory=(b"memory allocation of",)),
    hello='fn main() { println!("hello"); }\n',
)  # fmt: skip

CSHARP = Toolchain(
    probe="/usr/bin/mcs",
    package="mono-mcs libmono-system-numerics4.0-cil libmono-system-core4.0-cil",
    source="main.cs",
    compile=(
        ("/usr/bin/mono", "/usr/lib/mono/4.5/mcs.exe", "-optimize+", "-warn:0", "-d:ONLINE_JUDGE",
         "-r:System.Numerics.dll", "-r:System.Core.dll", "-out:out.exe", SOURCES),
    ),
    made="out.exe",
    run=("/usr/bin/mono", "out.exe"),
    version=("/usr/bin/mcs", "--version"),
    needs=Needs(
        reserved_bytes=512 * MIB,
        stack_bytes=128 * MIB,  # below the limit with what the virtual machine takes, so that an overflow is no MLE
        out_of_memory=(b"OutOfMemoryException", b"Garbage collector could not allocate", b"GC: out of memory"),
    ),
    memory_bytes=64 * MIB,
    calls=("sched_setscheduler",),
    needs_root=True,
    hello='class P { static void Main() { System.Console.WriteLine("hello"); } }\n',
)  # fmt: skip

PYPY = Toolchain(
    probe="/usr/bin/pypy3",
    package="pypy3",
    source="main.py",
    compile=(("/usr/bin/pypy3", "-S", "-c", "compile(open('main.py', 'rb').read(), 'main.py', 'exec')"),),
    run=("/usr/bin/pypy3", "main.py"),
    version=("/usr/bin/pypy3", "-c", "import sys, platform; print(sys.version.split('[')[1].split(' ')[1])"),
    needs=Needs(
        # sys.setrecursionlimit(10**6) makes a table of 1.3 GB; with a thread there are three, and its stack
        reserved_bytes=5120 * MIB,
        out_of_memory=(b"MemoryError",),
        environment={**ENVIRONMENT, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    ),
    memory_bytes=64 * MIB,
    hello="print('hello')\n",
)

RUBY = Toolchain(
    probe="/usr/bin/ruby",
    package="ruby",
    source="main.rb",
    compile=(("/usr/bin/ruby", "--disable=gems", "-c", "main.rb"),),
    run=("/usr/bin/ruby", "main.rb"),
    version=("/usr/bin/ruby", "--version"),
    needs=Needs(out_of_memory=(b"NoMemoryError", b"failed to allocate memory")),
    memory_bytes=16 * MIB,
    hello="puts 'hello'\n",
)

BASH = Toolchain(
    probe="/usr/bin/bash",
    package="bash",
    source="main.sh",
    compile=(("/usr/bin/bash", "-n", "main.sh"),),
    run=("/usr/bin/bash", "./main.sh"),  # a script finds files beside it by the folder in its name
    version=("/usr/bin/bash", "--version"),
    needs=Needs(processes=64, out_of_memory=(b"annot allocate",)),
    hello="echo hello\n",
)

LUA = Toolchain(
    probe="/usr/bin/lua5.4",
    package="lua5.4",
    source="main.lua",
    compile=(("/usr/bin/luac5.4", "-p", "main.lua"),),
    run=("/usr/bin/lua5.4", "main.lua"),
    version=("/usr/bin/lua5.4", "-v"),
    needs=Needs(out_of_memory=(b"not enough memory",)),
    hello="print('hello')\n",
)

SQL = Toolchain(
    probe="/usr/bin/sqlite3",
    package="sqlite3",
    source="main.sql",
    # the test's input is SQL that makes the tables; the rows that the submission selects are the output
    run=("/usr/bin/sqlite3", "-batch", "-bail", "-noheader", ":memory:", ".read /dev/stdin", ".read main.sql"),
    version=("/usr/bin/sqlite3", "--version"),
    needs=Needs(out_of_memory=(b"out of memory",)),
    hello="SELECT 'hello';\n",
)

LANGUAGES = (
    Language("python", ("py", "python3"), runtime="python"),
    Language("text"),
    Language("c", ("c17", "c11", "gnu17"), runtime="launched", toolchain=_c("gnu17")),
    Language("cpp", ("c++", "cc", "cxx", "cpp17", "c++17", "gnu++17"), runtime="launched", toolchain=_cpp("gnu++17")),
    *(
        Language(f"cpp{year}", (f"c++{year}", f"gnu++{year}"), "launched", _cpp(f"gnu++{year}"), standard_of="cpp")
        for year in (11, 14, 20, 23)
    ),
    Language("java", (), runtime="launched", toolchain=JAVA),
    Language("javascript", ("js", "nodejs", "node"), runtime="launched", toolchain=JAVASCRIPT),
    Language("typescript", ("ts",), runtime="launched", toolchain=TYPESCRIPT),
    Language("go", ("golang",), runtime="launched", toolchain=GOLANG),
    Language("rust", ("rs",), runtime="launched", toolchain=RUST),
    Language("csharp", ("c#", "cs"), runtime="launched", toolchain=CSHARP),
    Language("pypy", ("pypy3",), runtime="launched", toolchain=PYPY),
    Language("ruby", ("rb",), runtime="launched", toolchain=RUBY),
    Language("bash", ("sh", "shell"), runtime="launched", toolchain=BASH),
    Language("lua", (), runtime="launched", toolchain=LUA),
    Language("sql", ("sqlite", "sqlite3"), runtime="launched", toolchain=SQL),
)  # fmt: skip
