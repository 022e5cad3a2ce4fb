"""Which programs may share a box: the names that decide, in a process that has the zygote's modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_service.languages.python import USUAL_MODULES
from tests.guest.boxes import GUEST

ASK = f"""
import sys, {", ".join(USUAL_MODULES.split())}
import dis, types
sys.path.insert(0, {str(GUEST)!r})
import _box, computed_names, plain_programs
plain_programs.prepare()

def imports(code):
    found = {{each.argval for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME"}}
    return found.union(*(imports(each) for each in code.co_consts if type(each) is types.CodeType))

for source in eval(sys.stdin.read()):
    code = compile(source, "solution.py", "exec")
    uses = plain_programs.uses_of(code)
    if uses & plain_programs.COMPUTES and computed_names.may_compute(source):
        uses = 0
    modules = {{name for name in plain_programs.MODULES if uses & plain_programs.bit_of(name) & ~plain_programs.OPENS}}
    print((bool(uses), bool(uses & plain_programs.OPENS), sorted(modules), sorted(imports(code))))
"""

PLAIN = {
    "sum": "a, b = map(int, input().split())\nprint(a + b)",
    "usual imports": "import sys, math, heapq\nfrom collections import defaultdict, deque\nprint(sys.stdin.read())",
    "class": "class A:\n    def __init__(self, x):\n        self.x = x\n    def __lt__(self, o):\n        return 1",
    "recursion": "import sys\nsys.setrecursionlimit(10**6)\ndef f(n):\n    return n and f(n - 1)\nf(9)",
    "cache": "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(n):\n    return n",
    "types": "from typing import List, Dict, Optional\ndef f(x: List[int]) -> Optional[int]: ...",
    "bootstrap": "from types import GeneratorType\nprint(GeneratorType)",
    "fast input": "import os, io\ninput = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline",
    "local names": "def main():\n    getattr = modules = eval = gc = 1\n    return getattr + modules + eval + gc",
    "main guard": "def main(): pass\nif __name__ == '__main__':\n    main()",
    "variables like modules": "code = queue = signal = types = 1\nprint(code, queue, signal)",
    "super": "class A(list):\n    def __init__(self):\n        super().__init__()",
    "variables like attributes": "raw = detach = 1\nprint(raw, detach)",
    "annotated variables": "x: int = 1\nclass A:\n    y: int = 2",
    "list.remove without os": "x = [1]\nx.remove(1)",
    "type's identity": "def f(x, y):\n    return type(x) is list or type(x) is not type(y)",
    "type's name": "print(type(1).__name__)",
    "literal formatted": "x = '{:.2f} {0!r:>{1}}'.format(1, 2)\nprint(*map(\"{}\".format, [x]))",
    "builtin format": "print(format(5, 'b'))",
    "private functions of heapq": "import heapq\nheapq._heapify_max([])",
    "fields of a named tuple": "from collections import namedtuple\nnamedtuple('P', 'x')(1)._replace(x=2)._asdict()",
    "own private names": "class A:\n    def _init(self):\n        self._data = 1",
}

NOT_PLAIN = {
    "a module that is not listed": "import threading",
    "a module imported in a function": "def f():\n    import gc",
    "a module from a package": "import concurrent.futures",
    "numpy": "import numpy",
    "sys.modules": "import sys\nsys.modules",
    "frames": "import sys\nsys._getframe()",
    "from sys": "from sys import settrace",
    "all of os": "from os import *\nsystem('')",
    "file removed": "import os\nos.remove('x')",
    "getattr": "getattr(1, 'x')",
    "getattr in other letters": "ｇetattr(1, 'x')",
    "eval": "eval('1')",
    "special attribute": "print(input.__self__)",
    "finaliser": "class A:\n    def __del__(self): pass",
    "class pattern": "match 1:\n    case object(modules=x): pass",
    "special class pattern": "match 1:\n    case object(__class__=x): pass",
    "module in a module": "import random\nrandom._os",
    "module by another module's name": "import fractions\nfractions.sys.modules",
    "in a lambda": "f = lambda: globals()",
    "in a comprehension": "[vars() for _ in range(1)]",
    "text of a function": "def f(): pass\nf.__doc__ = ''",
    "annotations of a function": "import heapq\nheapq.merge.__annotations__",
    "annotations in a class pattern": "import heapq\nmatch heapq.merge:\n    case object(__annotations__=x): pass",
    "function of a property": "import fractions\nfractions.Fraction.numerator.fget",
    "file of a stream": "import sys\nsys.stdin.buffer.raw",
    "file of a stream in a class pattern": "import sys\nmatch sys.stdin.buffer:\n    case object(raw=x): pass",
    "lock of a queue": "import queue\nqueue.Queue().mutex",
    "process's clock": "import time\ntime.process_time()",
    "size of an object": "import sys\nsys.getsizeof([])",
    "wrapper": "import functools\nfunctools.wraps(print)",
    "private function": "import copy\ncopy._reconstruct",
    "private name of a class": "import queue\nqueue.Queue()._init",
    "enumeration": "import enum",
    "metaclass": "from abc import ABCMeta",
    "metaclass of named tuples": "from typing import NamedTupleMeta",
    "class made": "type('A', (), {})",
    "class of classes": "class A(type): pass",
    "type compared": "type(1) == int",
    "type as an operand": "x + type(1) is None",
    "type in a chain": "x == type(1) is None",
    "type compared behind its identity": "int is type(1) is type(2) == x",
    "type of many arguments": "type(*x) is None",
    "type of text": "type('A)', (), {}) is None",
    "template": "x = '{}'\nx.format(1)",
    "template that reads": "'{0.x}'.format(1)",
    "template that reads in a specification": "'{0:{1[0]}}'.format(1, 2)",
    "template in two literals": "('{0.x}'\n '{}').format(1)",
    "template behind another": "('{0.x}' '{}'.format(1))",
    "template of an f-string": "f'{1}'.format(1)",
    "template of a chosen literal": "(x if x else '{}').format(1)",
    "template behind a comment": "(x. # here\n format)",
    "template in a class pattern": "match 1:\n    case str(format=x): pass",
    "template in other letters": "''.ｆormat()",
    "import behind 300 names": "\n".join(f"n{i} = {i}" for i in range(300)) + "\nimport gc",
}


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[bool, bool, list[str], list[str]]]:
    sources = PLAIN | NOT_PLAIN
    asked = subprocess.run(
        [sys.executable, "-P", "-s", "-S", "-c", ASK],
        input=repr(list(sources.values())),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path("/"),
    )
    return dict(zip(sources, map(eval, asked.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", PLAIN)
def test_usual_programs_are_plain(answers: dict[str, tuple[bool, bool, list[str], list[str]]], name: str) -> None:
    is_plain, _, modules, imports = answers[name]
    assert is_plain
    assert set(imports) <= set(modules), "an import was not seen"


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_a_program_with_a_way_out_is_not_plain(
    answers: dict[str, tuple[bool, bool, list[str], list[str]]], name: str
) -> None:
    assert not answers[name][0]


def test_programs_that_could_open_files_are_known(
    answers: dict[str, tuple[bool, bool, list[str], list[str]]],
) -> None:
    assert [name for name in PLAIN if answers[name][1]] == ["fast input"]


FITTING_OPENERS = (
    "import sys, os\nif os.path.exists('in.txt'):\n    sys.stdin = open('in.txt', 'r')",
    "import os;x = os.read(0, os.fstat(0).st_size)",
    "with open(0, 'rb', buffering=0) as file: pass",
    "import os # of a line\nprint(os.environ)",
    "text = open('/dev/stdin').read()",
)
STRAY_OPENERS = (
    "open(63)", "open(0 or 63)", "open('/proc/self/stat')", "open(f'{x}')", "open('in', opener=f)", "o = open",
    "x.open(0)",
    "ｏｐｅｎ(0)", "import io\nio.open_code('x')", "from io import FileIO", "import os as o", "from os import read",
    "from os.path import *", "import os\nos.read(n, 1)", "import os\nos.path.os", "import os\nf(1, os)",
    "import os\nos.path.exists(name)", "f = open(0, 'rb', 0)\nf.__init__(63)", "f = open(0, 'rb', 0)\ntype(f)(63)",
)  # fmt: skip


def test_programs_that_could_use_other_descriptors_or_files_are_known() -> None:
    """A box of several tests has more of them than a fresh one."""
    ask = f"import sys\nsys.path.insert(0, {str(GUEST)!r})\nfrom descriptor_uses import strays\n"
    ask += "print(list(map(strays, eval(sys.stdin.read()))))"
    found = subprocess.run(
        [sys.executable, "-P", "-s", "-S", "-c", ask],
        input=repr(FITTING_OPENERS + STRAY_OPENERS),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path("/"),
    )
    assert eval(found.stdout) == [False] * len(FITTING_OPENERS) + [True] * len(STRAY_OPENERS)


BEHIND = {
    "print(input())": [],
    "import sys, heapq, math, bisect, functools, collections, itertools, queue, copy, datetime": [],
    "import random": ["random"],
    "import statistics": ["decimal", "random", "re"],
    "import fractions": ["decimal", "re"],
    "import string": ["re"],
    "import typing": ["re", "typing"],
    "import decimal": ["decimal"],
}


def test_the_modules_whose_state_is_put_back_are_those_that_a_program_can_use() -> None:
    ask = f"""
import sys, {", ".join(USUAL_MODULES.split())}
sys.path.insert(0, {str(GUEST)!r})
import _box
import plain_programs
plain_programs.prepare()
for source in eval(sys.stdin.read()):
    found = _box.reached(plain_programs.uses_of(compile(source, "", "exec")))
    print([name for name in ("decimal", "random", "re", "typing") if found & plain_programs.bit_of(name)])
"""
    command = [sys.executable, "-P", "-s", "-S", "-c", ask]
    asked = subprocess.run(command, input=repr(list(BEHIND)), capture_output=True, text=True, check=True, cwd=Path("/"))
    assert list(map(eval, asked.stdout.splitlines())) == list(BEHIND.values())
