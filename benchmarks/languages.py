"""Measures programs and compilers in boxes beside the same without isolation, and beside compiling for every test.

    python -m benchmarks languages [--rounds 5] [--languages c,cpp,java]

CPU time of everything that a contender starts, counted by a cgroup. The contenders take turns, so that other load
affects all alike. A run in a box includes what the host does for it. For languages whose stdin tests can share a box,
submissions of fifty tests are graded both ways, compiled before.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.cpu import FALLBACK_NOTE, Group, Meter, counted
from sandbox_service import languages
from sandbox_service.grading.runner import Runner
from sandbox_service.languages import toolchains
from sandbox_service.languages.base import Source
from sandbox_service.languages.compiler import Compiler
from sandbox_service.languages.launched import LaunchedRuntime
from sandbox_service.languages.launcher import START_OBJECT
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.languages.rows import Toolchain
from sandbox_service.sandbox.exclusive import NoExclusiveRun
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.schema import Limits, Submission
from sandbox_service.settings import Settings
from sandbox_service.slots import main as slots

LIMITS = Limits(cpu_seconds=10, memory_bytes=512 << 20)
COMPILE_LIMITS = Limits(cpu_seconds=60, wall_seconds=300, memory_bytes=2 << 30, output_bytes=64 << 20)
RUNS = {"c": 200, "cpp": 200, "cpp20": 200, "rust": 200, "go": 100, "lua": 100, "bash": 100, "sql": 50}
SLOW_RUNS = 5
COMPILATIONS = 3
TESTS = 10
UID = 61600
TARGETS = {"c": 1.3, "cpp": 1.3, "rust": 1.3, "go": 1.15, "java": 1.05, "javascript": 1.05, "pypy": 1.05}
FIFTY = [{"type": "stdin", "input": f"{n} {n + 1}\n", "output": f"{2 * n + 1}\n"} for n in range(50)]
SHARING = {
    "java": """import java.util.*;
public class Main { public static void main(String[] args) { Scanner in = new Scanner(System.in);
    System.out.println(in.nextLong() + in.nextLong()); } }
""",
}
"""Programs for FIFTY in the languages whose stdin tests can share a box."""
CPP = """#include <bits/stdc++.h>
int main() { std::vector<long> all; long x; while (std::cin >> x) all.push_back(x); std::sort(all.begin(), all.end());
    std::cout << std::accumulate(all.begin(), all.end(), 0L) << std::endl; }
"""

Turn = Callable[[int], None]


class Bench:
    """The contenders of one language, and what they share."""

    def __init__(self, folder: Path, pool: JailPool, runtime: LaunchedRuntime) -> None:
        self.folder = folder
        self.pool = pool
        self.runtime = runtime
        self.runs = Runner(pool, NoExclusiveRun())
        self._serial = random.randrange(1 << 40)
        (folder / "input").write_text("1 2\n")
        subprocess.run(["gcc", "-O2", "-static", Path(__file__).with_name("bare.c"), "-o", folder / "bare"], check=True)

    def fresh(self, name: str, code: str) -> Source:
        """Return a source that no cache knows."""
        self._serial += 1
        comment = {"lua": "--", "sql": "--", "bash": "#", "ruby": "#", "pypy": "#"}.get(name, "//")
        return Source(name, f"{code}\n{comment} {self._serial}\n", LIMITS, compile_limits=COMPILE_LIMITS)

    def boxed(self, source: Source, stack: ExitStack) -> Turn:
        """Return a turn that runs a program in boxes."""
        program = stack.enter_context(self.runtime.prepare(source, self.runs, once=False))
        assert program.refused is None, program.refused
        kind, limits = self.runtime.kind_of(source), self.runtime.limits_of(source)

        def turn(count: int) -> None:
            for _ in range(count):
                outcome = self.pool.jail(kind).run_stdin(program, b"1 2\n", limits)
                assert outcome.exit_code == 0, outcome

        return turn

    def bare(self, source: Source) -> Turn:
        """Return a turn that runs the same program without isolation."""
        with self.runtime.prepare(source, self.runs, once=False) as program:
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            command = list(program.arguments)
            names = {name: folder / name for name in program.files}
            if isinstance(program.executable, int):
                names = {"solution": folder / "solution"}
                command = [str(folder / "solution")]
            for path, fd in zip(names.values(), program.fds, strict=True):
                path.write_bytes(Path(f"/proc/self/fd/{fd}").read_bytes())
                path.chmod(0o755)

        def turn(count: int) -> None:
            words = [str(self.folder / "bare"), str(count), str(self.folder / "input"), str(self.folder / "output")]
            subprocess.run([*words, *command], check=True, cwd=folder)

        return turn

    def compiled(self, name: str, code: str, toolchain: Toolchain) -> Turn:
        """Return a turn that compiles new sources in boxes."""
        compiler = Compiler(MachineCache(self.folder / "cache", 0), 0)
        language = replace(languages.find(name), toolchain=toolchain)

        def turn(count: int) -> None:
            for _ in range(count):
                build = compiler.build(language, self.fresh(name, code), self.runs)
                assert build.refusal is None, build.refusal

        return turn


def compared(turns: dict[str, tuple[Turn, int]], rounds: int, group: Group | None) -> dict[str, float]:
    """Return the median CPU milliseconds of each contender; they take turns in random order."""
    found: dict[str, list[float]] = {name: [] for name in turns}
    for turn, count in turns.values():
        turn(max(1, count // 10))
    for _ in range(rounds):
        for name in random.sample(list(turns), len(turns)):
            turn, count = turns[name]
            with Meter(group) as meter:
                turn(count)
            found[name].append(meter.seconds / count * 1000)
    return {name: statistics.median(values) for name, values in found.items()}


def measure_runs(bench: Bench, names: list[str], rounds: int, group: Group | None) -> None:
    """Print what a run costs in a box and without."""
    print(f"{'run, CPU ms':14s} {'bare':>9s} {'box':>9s} {'×':>6s}  line")
    for name in names:
        toolchain = languages.find(name).toolchain
        assert toolchain is not None
        source, count = bench.fresh(name, toolchain.hello), RUNS.get(name, SLOW_RUNS)
        with ExitStack() as stack:
            turns = {"bare": (bench.bare(source), count), "box": (bench.boxed(source, stack), count)}
            found = compared(turns, rounds, group)
        ratio = found["box"] / found["bare"]
        print(f"{name:14s} {found['bare']:9.3f} {found['box']:9.3f} {ratio:6.2f}  {TARGETS.get(name, '')}", flush=True)


def measure_sharing(settings: Settings, pool: JailPool, names: list[str], rounds: int, group: Group | None) -> None:
    """Print what each of fifty tests costs, in boxes of their own and in a shared one."""
    grader = slots.grader_of(settings, pool)
    print(f"{'fifty tests, CPU ms':20s} {'fresh':>9s} {'shared':>9s} {'×':>6s}")
    for name in names:

        def turn_of(isolation: str, name: str = name) -> Turn:
            fields = {"id": "x", "language": name, "code": SHARING[name], "tests": FIFTY, "isolation": isolation}
            submission = Submission.model_validate(fields | {"limits": LIMITS})

            def turn(count: int) -> None:
                for _ in range(count):
                    grade = grader.grade(submission)
                    assert grade.verdict == "AC", grade
                    assert grade.shared == (len(FIFTY) - 1 if isolation == "submission" else 0), grade.shared

            return turn

        turns = {isolation: (turn_of(isolation), 1) for isolation in ("test", "submission")}
        fresh, shared = (value / len(FIFTY) for value in compared(turns, rounds, group).values())
        print(f"{name:20s} {fresh:9.3f} {shared:9.3f} {shared / fresh:6.3f}", flush=True)


def measure_compilers(bench: Bench, rounds: int, group: Group | None) -> None:
    """Print what compiling C++ costs: in a box, without one, and with the precompiled header."""
    toolchain = languages.find("cpp").toolchain
    assert toolchain is not None
    plain = replace(toolchain, header="")
    source, target = bench.folder / "main.cpp", bench.folder / "out"
    source.write_text(CPP)
    (bench.folder / "start.o").write_bytes(START_OBJECT.read_bytes())
    command = [str(source) if word == "{sources}" else word for word in plain.compile[0]]
    command[command.index("out")] = str(target)

    def bare(count: int) -> None:
        for _ in range(count):
            subprocess.run(command, check=True, cwd=bench.folder)

    def for_each_test(count: int) -> None:
        for _ in range(count * TESTS):
            subprocess.run(["g++", "-std=c++17", str(source), "-o", str(target)], check=True, cwd=bench.folder)
            subprocess.run([str(target)], check=True, input=b"1 2\n", capture_output=True)

    def once(count: int) -> None:
        for _ in range(count):
            with ExitStack() as stack:
                bench.boxed(bench.fresh("cpp", CPP), stack)(TESTS)

    turns = {
        "bare": (bare, COMPILATIONS),
        "box": (bench.compiled("cpp", CPP, plain), COMPILATIONS),
        "box, header": (bench.compiled("cpp", CPP, toolchain), COMPILATIONS),
        "ten tests": (once, 1),
        "ten tests, compiled for each": (for_each_test, 1),
    }
    found = compared(turns, rounds, group)
    for name, value in found.items():
        print(f"{'g++, ' + name:34s} {value:10.1f} ms")
    print(f"compile box / bare compiler: {found['box'] / found['bare']:.3f} (line 1.05)")
    print(f"with the header / without: {found['box, header'] / found['box']:.3f} (line 0.35)")
    print(f"ten tests / compiled for each: {found['ten tests'] / found['ten tests, compiled for each']:.3f} (line 0.2)")


def main(arguments: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks languages", description=__doc__)
    present = [each.name for each in toolchains.present() if each.name != "sql"]  # its stdin is no pair of numbers
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--languages", default=",".join(present))
    parser.add_argument("--no-compilers", action="store_true", help="measure runs only")
    options = parser.parse_args(arguments)
    with counted("languages") as group, tempfile.TemporaryDirectory() as folder:
        if group is None:
            print(FALLBACK_NOTE, file=sys.stderr)
        settings = Settings(first_uid=UID)
        slots.pin_to_processor(0)  # as a slot's process is
        pool = slots.pool_of(settings, 0)
        runtime = slots.runtimes_of(settings)["launched"]
        assert isinstance(runtime, LaunchedRuntime)
        try:
            bench = Bench(Path(folder), pool, runtime)
            names = options.languages.split(",")
            measure_runs(bench, names, options.rounds, group)
            measure_sharing(settings, pool, [name for name in names if name in SHARING], options.rounds, group)
            if "cpp" in present and not options.no_compilers:
                measure_compilers(bench, options.rounds, group)
        finally:
            pool.close()
    return 0
