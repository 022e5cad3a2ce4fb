"""Shows where the CPU time of a submission goes, from request to answer, for each kind of test and some languages.

Each row is a batch that a client sends to a service on this machine, again and again. A column is the CPU time of the
processes of one part, for each submission: the client; the API with its queue; the slots, which judge on the host; and
the sandboxes with all that runs in them. The last column is the part of the sandboxes that the results report as the
time of the tests. Programs of compiled languages are compiled in the round that is not counted.

    python -m benchmarks performance
    python -m benchmarks performance --rows python-stdin,cpp-stdin --rounds 5
    python -m benchmarks performance --rows python-stdin --flame build/flame    and a flame graph of the API and a slot
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import flame, parts, workloads
from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import SETTLE_SECONDS, Group
from benchmarks.service import Service, counted_service
from benchmarks.workloads import ADDITION, Body
from sandbox_service import languages
from sandbox_service.client import Client
from sandbox_service.languages import toolchains
from sandbox_service.schema import Grade

SUBMISSIONS, TESTS, ROUNDS = 256, 10, 3
SLOW_SUBMISSIONS = 32  # of languages whose processes start slowly
SLOW = ("java", "javascript")
KINDS = ("stdin", "call", "assert", "interactive")
ADDITIONS = {
    "cpp": "#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }\n",
    "java": "import java.util.*;\npublic class Main { public static void main(String[] words) {\n"
    "Scanner in = new Scanner(System.in); System.out.println(in.nextLong() + in.nextLong()); } }\n",
    "javascript": "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a + b);\n",
}
FUNCTIONS = {
    "python": "def add(a, b):\n    return a + b\n",
    "cpp": "long add(long a, long b) { return a + b; }\n",
    "java": "class Solution { public long add(long a, long b) { return a + b; } }\n",
    "javascript": "function add(a, b) { return a + b; }\n",
}
ASSERTS = {
    "python": "def check(candidate):\n    for n in range(10):\n        assert candidate(n, n + 1) == 2 * n + 1\n",
    "cpp": "#include <cassert>\nint main() { assert(add(1, 2) == 3); assert(add(4, 5) == 9); }\n",
}
INTERACTOR = "import sys\nprint(20, 22, flush=True)\nsys.exit(42 if input().strip() == '42' else 43)\n"


@dataclass(frozen=True)
class Shares:
    """CPU milliseconds of a submission, by part; `sandboxes` includes `tests`."""

    client: float
    api: float
    slots: float
    sandboxes: float
    tests: float

    @property
    def total(self) -> float:
        """All parts."""
        return self.client + self.api + self.slots + self.sandboxes


@dataclass(frozen=True)
class Row:
    """A language, a kind of test, and a submission."""

    name: str
    body: Body

    @property
    def submissions(self) -> int:
        """The number of submissions of a batch."""
        return SLOW_SUBMISSIONS if self.name.startswith(SLOW) else SUBMISSIONS


def main(arguments: list[str]) -> int:
    """Print the table; returns 1 if a submission is not accepted, 2 if it cannot run."""
    options = _options(arguments)
    try:
        if options.flame is not None:
            flame.need()
        with counted_service("performance") as (service, group), Client(service.url) as client:
            return int(_measure(options, client, service, group) > 0)
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2


def _measure(options: argparse.Namespace, client: Client, service: Service, group: Group) -> int:
    """Print a line for each row, and return the number of submissions that were not accepted."""
    print(_head(options))
    wrong = 0
    for row in _rows():
        if options.rows and row.name not in options.rows:
            continue
        with _recorded(options, row, service):
            measured = [_measured(row, client, service, group) for _ in range(options.rounds + 1)][1:]
        wrong += sum(accepted < row.submissions for _, accepted in measured)
        print(_line(row, [shares for shares, _ in measured]), flush=True)
    return wrong


@contextlib.contextmanager
def _recorded(options: argparse.Namespace, row: Row, service: Service) -> Iterator[None]:
    """Record the API process and one slot, if that is asked for; py-spy does not stop them."""
    if options.flame is None:
        yield
        return
    found = parts.seconds(service)
    pids = {f"{row.name}-api": next(iter(found[parts.API])), f"{row.name}-slot": next(iter(found[parts.SLOTS]))}
    with flame.recorded(options.flame, pids):
        yield
    print(*(f"{options.flame / name}.svg" for name in pids), sep="\n", file=sys.stderr)


def _rows() -> Iterator[Row]:
    """Yield the rows whose language is installed."""
    for language in ("python", "cpp", "java", "javascript"):
        if not toolchains.is_present(languages.find(language)):
            continue
        for kind in KINDS:
            body = _body(language, kind)
            if body is not None:
                yield Row(f"{language}-{kind}", body | {"language": language})


def _body(language: str, kind: str) -> Body | None:
    """Return a submission, or None if the kind is not measured in this language."""
    tests: list[Body]
    if kind == "stdin":
        code = ADDITION if language == "python" else ADDITIONS[language]
        tests = [{"type": "stdin", "input": f"{n} {n + 1}\n", "output": f"{2 * n + 1}\n"} for n in range(TESTS)]
        return {"code": code, "tests": tests}
    if kind == "call":
        tests = [{"type": "call", "function": "add", "args": [n, n + 1], "output": 2 * n + 1} for n in range(TESTS)]
        return {"code": FUNCTIONS[language], "tests": tests}
    if kind == "assert" and language in ASSERTS:
        test = {"type": "assert", "code": ASSERTS[language], "entry_point": "add"}
        return {"code": FUNCTIONS[language], "tests": [test]}
    if kind == "interactive" and language == "python":
        interactor = {"type": "program", "source": INTERACTOR, "protocol": "kattis"}
        return {"code": ADDITION, "tests": [{"type": "interactive", "input": "1\n"}], "interactor": interactor}
    return None


def _measured(row: Row, client: Client, service: Service, group: Group) -> tuple[Shares, int]:
    """Return the shares of one batch, and how many of its submissions were accepted."""
    is_compiled = not row.name.startswith("python")
    bodies = [row.body if is_compiled else workloads.fresh(row.body, number) for number in range(row.submissions)]
    before, began = parts.seconds(service), (time.process_time(), group.seconds())
    grades = client.grade_many(bodies)
    time.sleep(SETTLE_SECONDS)
    own, whole = time.process_time() - began[0], group.seconds() - began[1]
    after = parts.seconds(service)
    api, slots = (parts.spent(before, after, part) for part in (parts.API, parts.SLOTS))
    tests = sum(test.cpu_seconds for grade in grades for test in grade.tests)
    shares = (own, api, slots, whole - own - api - slots, tests)
    return Shares(*(1e3 * share / row.submissions for share in shares)), sum(map(_is_accepted, grades))


def _is_accepted(grade: Grade) -> bool:
    return grade.verdict == "AC"


def _head(options: argparse.Namespace) -> str:
    return (
        f"CPU ms of a submission; median of {options.rounds} rounds\n\n"
        "| language and tests | client | API and queue | slot | sandbox | of that, reported as the tests' | all |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )


def _line(row: Row, measured: list[Shares]) -> str:
    names = ("client", "api", "slots", "sandboxes", "tests", "total")
    medians = [statistics.median(getattr(shares, name) for shares in measured) for name in names]
    language, _, kind = row.name.partition("-")
    return f"| {language}, {len(row.body['tests'])} {kind} | " + " | ".join(f"{value:.2f}" for value in medians) + " |"


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks performance", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument(
        "--rows", type=lambda text: text.split(","), help="such as python-stdin,java-call; default: all"
    )
    parser.add_argument("--flame", type=Path, metavar="FOLDER", help="write flame graphs to this folder, by py-spy")
    return parser.parse_args(arguments)
