"""Regular expressions of the service read hostile text in linear time.

A pattern that backtracks takes longer on 4 kB than is allowed here, and many seconds on 100 kB; answers may be longer.
A pattern is used here as the service uses it: at the beginning of a text, or searched for.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sandbox_service

SIZE = 4_000
MOST_SECONDS = 0.02  # a linear pattern takes a hundredth of it
TRIES = 3
# libraries of trainers; boxes, which have limits of their own; tools without hostile text
LEFT_OUT = ("adapters", "doctor", "guest", "strengthen", "validation")
KNOWN = {
    "code_block._VERSION": "reads at most LONGEST_NAME characters",
    "shown_libraries.EXTRA": "reads what packages say of themselves",
    "tokens._TOKEN": "reads test programs, up to the first sign that is none",
    "toolchains._VERSION": "reads what compilers say of themselves",
}

UNITS = """
    a A 0 1 _ \\ " ' # ` ~ ( ) [ ] { } < . - = $ % ; : & | ! ? @ , ^ \u00e9 \u0661 \\\\ \\" "\\ /* // a= a.
    +- 1. 1e 1, :: import_ import_a. {{ \\text{ \\boxed{ </think> <think> r#" R"( 0x f( (a [a {a
""".split()
BLANKS = (" ", "\t", "\n", "\0", "\x0b", "\r\n", "a ", "a\n", " \n", "a,b ", "```\n")
WORD = re.compile(r"[A-Za-z]{2,}")
ESCAPE = re.compile(r"\\[A-Za-z]")
SEARCHED = re.compile(r"\b(\w+)\.(?:search|finditer|findall|subn?|split)\(")


def patterns() -> Iterator[Any]:
    """Each compiled pattern of the service, once."""
    seen = set()
    for module in pkgutil.walk_packages(sandbox_service.__path__, "sandbox_service."):
        if module.name.split(".")[1] in LEFT_OUT or module.name.endswith("__main__"):
            continue
        place = module.name.rpartition(".")[2]
        found = importlib.import_module(module.name)
        for name, value in vars(found).items():
            for number, pattern in enumerate(_patterns_in(value)):
                if (pattern.pattern, pattern.flags) not in seen and f"{place}.{name}" not in KNOWN:
                    seen.add((pattern.pattern, pattern.flags))
                    is_searched = value is not pattern or name in _searched(found if name.startswith("_") else None)
                    yield pytest.param(pattern, is_searched, id=f"{place}.{name}-{number}")


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns_in(each)


@cache
def _searched(module: ModuleType | None) -> set[str]:
    """Names of patterns that a module, or any module of the service, looks for anywhere in a text."""
    sources = [Path(str(module.__file__))] if module else Path(sandbox_service.__file__).parent.rglob("*.py")
    return {name for source in sources for name in SEARCHED.findall(source.read_text())}


def texts(pattern: str) -> Iterator[str]:
    """Long texts of one repeated unit, and those that begin as the pattern does."""
    yield from (unit * (SIZE // len(unit)) for unit in (*UNITS, *BLANKS))
    for word in dict.fromkeys(WORD.findall(ESCAPE.sub(" ", pattern))[:5]):
        yield from (f"{word}{end}" * (SIZE // (len(word) + 1)) for end in ("", " ", "\n", "(", "{", '"'))
        yield from (f"{word} {unit * SIZE}!" for unit in " a0(\n")


def seconds(pattern: re.Pattern[Any], text: Any, *, is_searched: bool) -> float:
    """CPU time of a match at the beginning, or of looking for all; the shortest of some tries if it is long."""
    shortest = MOST_SECONDS
    for _ in range(TRIES):
        begin = time.process_time()
        pattern.match(text)
        pattern.fullmatch(text)
        for _ in pattern.finditer(text) if is_searched else ():
            pass
        shortest = min(shortest, time.process_time() - begin)
        if shortest < MOST_SECONDS:
            break
    return shortest


@pytest.mark.parametrize(("pattern", "is_searched"), list(patterns()))
def test_no_pattern_backtracks(pattern: re.Pattern[Any], is_searched: bool) -> None:
    is_text = isinstance(pattern.pattern, str)
    source = pattern.pattern if is_text else pattern.pattern.decode("latin-1")
    for text in texts(source):
        read = text if is_text else text.encode()
        assert seconds(pattern, read, is_searched=is_searched) < MOST_SECONDS, text[:12]
