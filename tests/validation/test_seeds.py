"""Programs that depend on the hash seed or on random numbers are found, for each kind of test, in real jails."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import pytest

from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.formats.problem import Problem
from sandbox_service.settings import Settings
from sandbox_service.validation import checks, evidence, seeds
from tests.conftest import need_firejail
from tests.validation.world import recipe, sums

WORDS = ["one", "two", "three", "four", "five"]
BY_CHANCE = "def f(words):\n    return list(set(words))\n"
SORTED = "def f(words):\n    return sorted(set(words))\n"
BASKET = """class Basket:
    def __init__(self, words): self.words = words
    def add(self, word): self.words.append(word)
    def all(self): return list(set(self.words))
"""
RAISES = BY_CHANCE + "def g(words):\n    raise KeyError(words[0])\n"
CAUGHT = """
try:
    g(['x'])
except KeyError:
    pass
else:
    assert False
"""
METHOD = "class Solution:\n    def f(self, words: List[str]):\n        return list(set(words))\n"


def call(output: list[str]) -> dict[str, Any]:
    return {"type": "call", "function": "f", "args": [WORDS], "output": output}


def basket(output: list[str]) -> dict[str, Any]:
    calls: list[Any] = [["Basket", [WORDS[:4]]], ["add", [WORDS[4]]], ["all", []]]
    return {"type": "call", "function": "Basket", "calls": calls, "output": [None, None, output]}


def program(output: list[str], **fields: Any) -> dict[str, Any]:
    said = f"assert f({WORDS}) == {output}"
    if "entry_point" in fields:
        said = f"def check(f):\n    {said}\n"
    return {"type": "assert", "code": said, **fields}


@pytest.fixture(scope="module")
def unstable() -> dict[str, bool]:
    """Whether each is found unstable; all references pass at first."""
    need_firejail()
    by_chance = _printed(f"print(list(set({WORDS})))")
    first = _printed("import random; random.seed(0); print([random.random()])")
    asked = {
        "call": (call(by_chance), BY_CHANCE),
        "sound call": (call(sorted(WORDS)), SORTED),
        "generator": (call(by_chance), "def f(words):\n    yield from set(words)\n"),
        "program": (program(by_chance), BY_CHANCE),
        "entry point": (program(by_chance, entry_point="f"), BY_CHANCE),
        "method": (program(by_chance, entry_point="Solution().f", prelude="@leetcode"), METHOD),
        "sound program": (program(sorted(WORDS)), SORTED),
        "exception": (program(by_chance) | {"code": program(by_chance)["code"] + CAUGHT}, RAISES),
        "object": (basket(by_chance), BASKET),
        "sound object": (basket(sorted(WORDS)), BASKET.replace("list(", "sorted(")),
        "stdin": ({"type": "stdin", "output": " ".join(by_chance)}, f"print(*set({WORDS}))"),
        "sound stdin": ({"type": "stdin", "output": "one"}, "print('one')"),
        "random": ({"type": "stdin", "output": str(first)}, "import random\nprint([random.random()])"),
    }
    return asyncio.run(
        _judged({name: sums(tests=[test], solutions=[{"code": code}]) for name, (test, code) in asked.items()})
    )


async def _judged(problems: dict[str, Problem]) -> dict[str, bool]:
    found = {}
    made = recipe()
    async with local_judge(Settings(slots=1)) as ready:
        for name, problem in problems.items():
            seen = await evidence.gather(problem, None, ready, made.thresholds)
            assert [each.passed for each in seen.references] == [True], name
            found[name] = "unstable" in {each.name for each in checks.findings(problem, seen, made)}
    return found


def _printed(code: str) -> list[Any]:
    """The output under the hash seed of every box."""
    command = [Settings().python, "-c", code]
    said = subprocess.run(command, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True).stdout
    return list(eval(said))


@pytest.mark.parametrize(
    "name", ["call", "generator", "program", "exception", "entry point", "method", "object", "stdin", "random"]
)
def test_what_hangs_on_chance_is_found(unstable: dict[str, bool], name: str) -> None:
    assert unstable[name]


@pytest.mark.parametrize("name", ["sound call", "sound program", "sound object", "sound stdin"])
def test_what_does_not_is_left_alone(unstable: dict[str, bool], name: str) -> None:
    assert not unstable[name]


def test_what_cannot_be_brought_to_another_interpreter_is_not() -> None:
    assert seeds.with_seed(sums(language="text"), "3", 1) is None
    assert seeds.with_seed(sums(), "#" * seeds.MOST_BYTES, 1) is None
    mixed = [{"type": "call", "function": "f", "output": 1}, {"type": "stdin", "output": "1"}]
    assert seeds.with_seed(sums(tests=mixed), "def f(): return 1", 1) is None
