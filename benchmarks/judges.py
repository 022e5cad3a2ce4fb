"""Measures what judges cost: tests with a checker program, and interactive ones, beside plain tests of such programs.

    python -m benchmarks judges [--rounds 5] [--tests 200]
    python -m benchmarks judges --profile "checker, C++"
    python -m benchmarks judges --problemtools PYTHON

CPU time of everything that a grader starts and of itself, counted by a cgroup. The contenders take turns. Programs and
judges are compiled before the first turn. Interactive programs guess a number in twenty rounds.

The bare contenders are the same programs in C++ without the service, with the same start: fork, exec and wait; the two
of a conversation are joined by pipes, or by a process that passes on what each writes. A plain test and the bare
checker together are the least that a checked test can cost.

With `--problemtools` the same programs also run as packages of Kattis' problemtools, by its own judge and without
isolation. Its plain test is judged by its default validator, which is a program, too. PYTHON is an interpreter of an
environment with `pip install problemtools`.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cpu import FALLBACK_NOTE, counted
from benchmarks.languages import Turn, compared
from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.languages import libc_start
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings
from sandbox_service.slots import main as slots

UID = 61700
ROUNDS = 20
NUMBER = (1 << ROUNDS) - 1  # a search by halves asks for all of the rounds
PROFILED_LINES = 45

ADD = '#include <cstdio>\nint main() { long a, b; std::scanf("%ld %ld", &a, &b); std::printf("%ld\\n", a + b); }\n'
GUESS = """#include <cstdio>
#include <cstring>
int main() {
    char word[16];
    for (long low = 0, high = 1 << 20;;) {
        long middle = (low + high) / 2;
        std::printf("%ld\\n", middle);
        std::fflush(stdout);
        if (std::scanf("%15s", word) != 1 || !std::strcmp(word, "right")) return 0;
        (word[0] == 'm' ? low : high) = middle;
    }
}
"""
CHECKER = """#include <cstdio>
int main(int, char **paths) {
    std::FILE *output = std::fopen(paths[2], "r"), *answer = std::fopen(paths[3], "r");
    long a, b;
    return std::fscanf(output, "%ld", &a) != 1 || std::fscanf(answer, "%ld", &b) != 1 || a != b;
}
"""
INTERACTOR = """#include <cstdio>
int main(int, char **paths) {
    std::FILE *input = std::fopen(paths[1], "r");
    long wanted, guess;
    if (std::fscanf(input, "%ld", &wanted) != 1) return 1;
    for (int round = 0; round < 30 && std::scanf("%ld", &guess) == 1; round++) {
        std::puts(guess == wanted ? "right" : guess < wanted ? "more" : "less");
        std::fflush(stdout);
        if (guess == wanted) return 42;
    }
    return 43;
}
"""
VALIDATOR = """#include <cstdio>
int main(int, char **paths) {
    std::FILE *answer = std::fopen(paths[2], "r");
    long a, b;
    return std::scanf("%ld", &a) == 1 && std::fscanf(answer, "%ld", &b) == 1 && a == b ? 42 : 43;
}
"""
PYTHON_CHECKER = "def check(input, output, answer):\n    return int(output) == int(answer)\n"
PYTHON_INTERACTOR = """def interact(read, write, input, answer):
    for _ in range(30):
        guess = int(read())
        write("right" if guess == int(input) else "more" if guess < int(input) else "less")
        if guess == int(input):
            return True
    return False
"""


def program(source: str, language: str, protocol: str) -> dict[str, str]:
    """Return a judge program."""
    return {"type": "program", "source": source, "language": language, "protocol": protocol}


def submissions(tests: int) -> dict[str, Submission]:
    """Return the submissions that are compared: each has that many tests."""
    plain = {"type": "stdin", "input": "20 22\n", "output": "42\n"}
    asked = {"type": "interactive", "input": f"{NUMBER}\n"}
    add: dict[str, Any] = {"code": ADD, "tests": [plain] * tests}
    guess: dict[str, Any] = {"code": GUESS, "tests": [asked] * tests}
    found = {
        "plain": add,
        "checker, C++": add | {"checker": program(CHECKER, "cpp", "testlib")},
        "checker, Python": add | {"checker": program(PYTHON_CHECKER, "python", "function")},
        f"{ROUNDS} rounds, C++": guess | {"interactor": program(INTERACTOR, "cpp", "kattis")},
        f"{ROUNDS} rounds, Python": guess | {"interactor": program(PYTHON_INTERACTOR, "python", "function")},
    }
    return {
        name: Submission.model_validate({"id": "x", "language": "cpp", "stop_on_failure": False, **fields})
        for name, fields in found.items()
    }


LINES = {"checker, C++": 1.8, f"{ROUNDS} rounds, C++": 2.0}


def bare_turns(folder: Path) -> dict[str, Turn]:
    """Return turns that run the programs in C++ without a grader.

    Args:
        folder: for the programs and their files.
    """
    start = folder / "start.o"
    start.write_bytes(libc_start.start_object(MachineCache(folder, 0)))
    for name, text in {"add": ADD, "guess": GUESS, "checker": CHECKER, "interactor": INTERACTOR}.items():
        (folder / f"{name}.cpp").write_text(text)
        subprocess.run(["g++", "-O2", "-static", "-s", folder / f"{name}.cpp", start, "-o", folder / name], check=True)
    subprocess.run(["gcc", "-O2", "-static", Path(__file__).with_name("bare.c"), "-o", folder / "bare"], check=True)
    for name, text in {"input": "20 22\n", "answer": "42\n", "number": f"{NUMBER}\n"}.items():
        (folder / name).write_text(text)

    def run(count: int, *words: str) -> None:
        subprocess.run(["./bare", str(count), *words], cwd=folder, check=True)

    return {
        "plain, bare": lambda count: run(count, "input", "output", "./add"),
        "checker, bare": lambda count: run(count, "input", "said", "./checker", "input", "answer", "answer"),
        f"{ROUNDS} rounds, bare": lambda count: run(count, "talk", "./guess", "./interactor", "number"),
        f"{ROUNDS} rounds, relay": lambda count: run(count, "relay", "./guess", "./interactor", "number"),
    }


def has_problemtools(python: str) -> bool:
    """Return True if that interpreter starts and imports problemtools."""
    try:
        return subprocess.run([python, "-c", "import problemtools"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@contextmanager
def problemtools_turns(python: str, folder: Path) -> Iterator[dict[str, Turn]]:
    """Yield turns that run packages with the same programs by problemtools.

    Args:
        python: an interpreter with problemtools.
        folder: for the packages.
    """
    rounds = f"{ROUNDS}rounds"
    write_package(folder / "plain", ADD, "20 22\n", "42\n", "default")
    write_package(folder / "checker", ADD, "20 22\n", "42\n", "custom", VALIDATOR)
    write_package(folder / rounds, GUESS, f"{NUMBER}\n", "", "custom interactive", INTERACTOR)
    command = [python, str(Path(__file__).with_name("problemtools_turns.py")), str(folder)]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def run(package: str, count: int) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            print(package, count, file=process.stdin, flush=True)
            if process.stdout.readline() != "done\n":
                raise RuntimeError("problemtools failed: its message is above")

        names = {"plain": "plain", "checker, C++": "checker", f"{ROUNDS} rounds, C++": rounds}
        yield {f"problemtools: {name}": partial(run, package) for name, package in names.items()}


def write_package(folder: Path, code: str, given: str, answer: str, validation: str, validator: str = "") -> None:
    """Write a problem package with one test and one accepted submission in C++.

    Args:
        folder: the package, which must not exist.
        code: the submission.
        given: the test's input.
        answer: the test's answer.
        validation: the field of problem.yaml.
        validator: the package's own output validator in C++, if it has one.
    """
    files = {
        "problem.yaml": f"name: {folder.name}\nvalidation: {validation}\n",
        "data/secret/1.in": given,
        "data/secret/1.ans": answer,
        "submissions/accepted/solution.cpp": code,
    }
    if validator:
        files["output_validators/validator/validator.cpp"] = validator
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def turn_of(grader: Grader, submission: Submission) -> Turn:
    """Return a turn that grades the submission; the count is that of its tests."""

    def turn(_: int) -> None:
        grade = grader.grade(submission)
        assert grade.verdict == "AC", (grade.message, grade.failure_reason)

    return turn


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks judges", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=200, help="of each submission")
    parser.add_argument("--profile", default="", help="profile the host's part of a contender instead")
    parser.add_argument("--problemtools", metavar="PYTHON", help="compare with problemtools in this environment")
    options = parser.parse_args(arguments)
    if options.problemtools and not has_problemtools(options.problemtools):
        parser.error(f"{options.problemtools} cannot import problemtools: install it there, or name another Python")
    with counted("judges") as group, tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        if group is None:
            print(FALLBACK_NOTE, file=sys.stderr)
        settings = Settings(first_uid=UID, cache_folder=folder)
        slots.pin_to_processor(0)  # as a slot's process is
        with bootstrap.grader(settings) as grader:
            turns = {name: turn_of(grader, each) for name, each in submissions(options.tests).items()}
            turns |= bare_turns(Path(folder))
            if options.problemtools:
                turns |= stack.enter_context(problemtools_turns(options.problemtools, Path(folder) / "packages"))
            if options.profile:
                _profile(turns[options.profile], options.tests)
            else:
                _print(compared({name: (turn, options.tests) for name, turn in turns.items()}, options.rounds, group))
    return 0


def _print(found: dict[str, float]) -> None:
    print(f"{'CPU ms a test':32s} {'':>9s} {'x plain':>8s}  line")
    for name, value in found.items():
        print(f"{name:32s} {value:9.3f} {value / found['plain']:8.2f}  {LINES.get(name, '')}")


def _profile(turn: Turn, tests: int) -> None:
    """Print which functions of the host take the time."""
    turn(tests)
    profile = cProfile.Profile()
    profile.runcall(turn, tests)
    pstats.Stats(profile).sort_stats("tottime").print_stats(PROFILED_LINES)
