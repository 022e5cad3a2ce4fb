"""Loads the test programs from their files: attacks, unusual right programs, and programs sorted by verdict.

Each file is one program and contains its own metadata: a docstring for the reader and, on the next line,
`# proctor: {…}` in JSON. Nothing here runs a program. Do not run an attack outside a sandbox.

Attacks     {"test": kind or [kinds], "expect": [verdicts], "outcome": "unpaid" | "harmless", "runs": 2}
            `runs` (default 1): how often the test is repeated within the submission, for attacks that look for traces
            of an earlier run. Whatever the outcome, `ESCAPED` must never appear in stdout.
Programs    {"input": …, "output": …} or {"input_expr": …, "output_expr": …}, Python expressions; optionally "limits",
            "numpy", "completion" (wrap the program into a model's answer) and "source_expr" (an expression over
            `source` that makes the program to be sent, for programs too large for a file).
Verdicts    no line: kind and verdict are the folders' names, tests and limits are in the kind's `problem.json`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent

Kind = Literal["stdin", "call", "assert"]
Outcome = Literal["unpaid", "harmless"]
Json = dict[str, Any]

KINDS: tuple[Kind, ...] = ("stdin", "call", "assert")
VERDICTS = ("AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE")
GROUPS = ("forging", "reading", "harming", "escaping", "exhausting", "outliving")
ESCAPED = "ESCAPED"

SECRET = 4242
"""The answer that attacks try to give. It does not follow from the input, so that no honest program can give it."""

PLAIN = f"def check(candidate):\n    assert candidate(20, 22) == {SECRET}\n    assert candidate(1, 2) == 77\n"

SECRET_TESTS: dict[Kind, list[Json]] = {
    "stdin": [{"type": "stdin", "input": "20 22\n", "output": f"{SECRET}\n"}],
    "call": [{"type": "call", "function": "solve", "args": [20, 22], "output": SECRET}],
    "assert": [  # plain assertions, whose calls alone run in a box; and a program that runs in a box of its own
        {"type": "assert", "code": PLAIN, "entry_point": "solve"},
        {"type": "assert", "code": f"import math\n\n\n{PLAIN}", "entry_point": "solve"},
    ],
}
ATTACK_LIMITS: Json = {"cpu_seconds": 1, "wall_seconds": 3, "memory_bytes": 1 << 28, "output_bytes": 1 << 20}
SHORT: Json = {"cpu_seconds": 0.5}
"""For programs that only use up their time. Those that fill the memory or the output need more to get there."""

HEAD = re.compile(r'\ufeff?(?:#.*\n)*"""(?P<about>.*?)"""\r?\n(?:# proctor: (?P<meta>\{[^\r\n]*\})\r?\n)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Attack:
    """A malicious program against one kind of test."""

    group: str
    name: str
    kind: Kind
    code: str
    about: str
    expect: frozenset[str]
    outcome: Outcome
    runs: int

    @property
    def id(self) -> str:
        """Readable and unique."""
        return f"{self.group}/{self.name}-{self.kind}"

    def body(self) -> Json:
        """What to post to `/v1/grade`."""
        tests = SECRET_TESTS[self.kind] * self.runs
        wastes_time = "TLE" in self.expect and self.expect.isdisjoint({"MLE", "OLE"})
        limits = ATTACK_LIMITS | (SHORT if wastes_time else {})
        return {"code": self.code, "tests": tests, "limits": limits, "stop_on_failure": False}


@dataclass(frozen=True, slots=True)
class Program:
    """An unusual program that is right: any verdict but `AC` is a fault of the service."""

    name: str
    code: str
    about: str
    input: str
    output: str
    limits: Json
    completion: bool
    numpy: bool

    @property
    def id(self) -> str:
        """Readable and unique."""
        return self.name

    def body(self) -> Json:
        """What to post to `/v1/grade`."""
        source = {"completion": answer(self.code)} if self.completion else {"code": self.code}
        test = {"type": "stdin", "input": self.input, "output": self.output}
        return {**source, "tests": [test]} | ({"limits": self.limits} if self.limits else {})


@dataclass(frozen=True, slots=True)
class VerdictCase:
    """A program with a known verdict."""

    kind: Kind
    verdict: str
    name: str
    code: str
    about: str
    tests: list[Json]
    limits: Json

    @property
    def id(self) -> str:
        """Readable and unique."""
        return f"{self.kind}/{self.verdict}/{self.name}"

    def body(self) -> Json:
        """What to post to `/v1/grade`."""
        limits = self.limits | (SHORT if self.verdict == "TLE" else {})
        return {"code": self.code, "tests": self.tests, "limits": limits}


@cache
def attacks() -> list[Attack]:
    """Return every attack, once for each kind of test that it is made for."""
    return [attack for path in sources("attacks") for attack in _attacks_in(path)]


@cache
def programs() -> list[Program]:
    """Return every unusual but right program."""
    return [_program_in(path) for path in sources("programs")]


@cache
def verdicts() -> list[VerdictCase]:
    """Return every program of a verdict's folder."""
    return [_verdict_case_in(path) for path in sources("verdicts")]


def sources(folder: str) -> list[Path]:
    """Return the program files below a folder of the corpus, in a fixed order."""
    return sorted((HERE / folder).rglob("*.py"))


def read(path: Path) -> tuple[str, str, Json]:
    """Return a file's text, byte for byte, with its docstring and the metadata of its `# proctor:` line."""
    code = path.read_bytes().decode()
    head = HEAD.match(code)
    if head is None:
        raise ValueError(f"{path}: no docstring at the beginning")
    return code, head["about"].strip(), json.loads(head["meta"] or "{}")


def answer(code: str) -> str:
    """Return a completion with `code` as its last block, after a block that is not the answer."""
    first = "A first idea:\n```python\nprint('not this one')\n```\n"
    text = f"{first}Better:\n```python\n{code.rstrip()}\n```\nThat is all."
    return re.sub("\r?\n", "\r\n", text) if "\r\n" in code else text


def _attacks_in(path: Path) -> list[Attack]:
    code, about, meta = read(path)
    kinds = meta["test"] if isinstance(meta["test"], list) else [meta["test"]]
    expect, runs = frozenset(meta["expect"]), meta.get("runs", 1)
    group = path.parent.name
    return [Attack(group, path.stem, kind, code, about, expect, meta["outcome"], runs) for kind in kinds]


def _program_in(path: Path) -> Program:
    code, about, meta = read(path)
    return Program(
        name=path.stem,
        code=_value(meta, "source", code, source=code),
        about=about,
        input=_value(meta, "input", ""),
        output=_value(meta, "output", ""),
        limits=meta.get("limits", {}),
        completion=meta.get("completion", False),
        numpy=meta.get("numpy", False),
    )


def _verdict_case_in(path: Path) -> VerdictCase:
    code, about, _ = read(path)
    kind, verdict, _ = path.relative_to(HERE / "verdicts").parts
    (known,) = (known for known in KINDS if known == kind)
    problem = json.loads((HERE / "verdicts" / kind / "problem.json").read_text())
    limits = problem["limits"] | (SHORT if verdict == "TLE" else {})
    return VerdictCase(known, verdict, path.stem, code, about, problem["tests"], limits)


def _value(meta: Json, name: str, default: str, **names: str) -> str:
    """Return the given text, or the value of an expression (trusted: it is part of the corpus)."""
    if f"{name}_expr" in meta:
        return str(eval(meta[f"{name}_expr"], names))
    return str(meta.get(name, default))
