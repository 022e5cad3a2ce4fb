"""Makes mutants of programs in C, C++ and Java by exchanging tokens.

Nothing knows the grammar: a mutant that does not compile is none, and the caller leaves it out. Texts, comments and
lines of the preprocessor stay as they are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sandbox_service.strengthen.mutants import Mutant, one_of_each

LANGUAGES = ("c", "cpp", "java")
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^\s*#[^\n]*(?:\\\n[^\n]*)*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|->|\+\+|--|&&|\|\||[-+*/%<>=!&|^]=|<<|>>|::|.)",
    re.DOTALL | re.MULTILINE,
)
Tokens = list[str]

_SIGNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "boundary": {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"]},
    "comparison": {"<": [">"], ">": ["<"], "<=": [">="], ">=": ["<="], "==": ["!="], "!=": ["=="]},
    "arithmetic": {"+": ["-"], "-": ["+"], "*": ["+", "/"], "/": ["*"], "%": ["/"]},
    "augmented assignment": {"+=": ["-=", "="], "-=": ["+=", "="], "*=": ["+="], "|=": ["&="], "^=": ["|="]},
    "lost condition": {"&&": ["||"], "||": ["&&"]},
    "negated condition": {"!": [""]},
    "count down": {"++": ["--"], "--": ["++"]},
    "bits": {"<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["&"]},
    "opposite function": {
        "min": ["max"], "max": ["min"], "floor": ["ceil"], "ceil": ["floor"],
        "lower_bound": ["upper_bound"], "upper_bound": ["lower_bound"], "push_back": ["push_front"],
    },
    "break or continue": {"break": ["continue"], "continue": ["break"]},
    "overflow": {"long": ["int"], "ll": ["int"], "int64_t": ["int"], "double": ["float"], "Long": ["Integer"]},
    "wrong value": {"true": ["false"], "false": ["true"]},
}  # fmt: skip


def _exchanged(name: str) -> Callable[[Tokens, int], list[tuple[int, str]]]:
    signs = _SIGNS[name]
    return lambda tokens, place: [(place, other) for other in signs.get(tokens[place], ())]


def _constant(tokens: Tokens, place: int) -> list[tuple[int, str]]:
    """A number that is one more, one less, or a tenth."""
    if not tokens[place].isdigit():
        return []
    number = int(tokens[place])
    values = {number + 1, max(number - 1, 0), *((number // 10,) if number >= 100 else ())} - {number}
    return [(place, str(value)) for value in sorted(values)]


def _off_by_one(tokens: Tokens, place: int) -> list[tuple[int, str]]:
    """A subscript, or the bound of a comparison with a name, that is one further."""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if tokens[place] in ("[", "<=", "<") and re.fullmatch(r"[A-Za-z_]\w*", following):
        return [(place + 1, f"{following} {by} 1") for by in "+-"]
    return []


def _lost_statement(tokens: Tokens, place: int) -> list[tuple[int, str]]:
    if tokens[place] in ("break", "continue") and tokens[place + 1 : place + 2] == [";"]:
        return [(place, "")]
    return []


def _dropped_branch(tokens: Tokens, place: int) -> list[tuple[int, str]]:
    """A condition that never holds, and one that always does."""
    if tokens[place] == "if" and tokens[place + 1 : place + 2] == ["("]:
        return [(place + 1, "(false && "), (place + 1, "(true || ")]
    return []


def _initial_value(tokens: Tokens, place: int) -> list[tuple[int, str]]:
    if tokens[place] == "=" and tokens[place + 2 : place + 3] == [";"] and tokens[place + 1].isdigit():
        return [(place + 1, str(int(tokens[place + 1]) + 1))]
    return []


OPERATORS: Mapping[str, Callable[[Tokens, int], list[tuple[int, str]]]] = {
    **{name: _exchanged(name) for name in _SIGNS},
    "constant": _constant,
    "off by one": _off_by_one,
    "lost statement": _lost_statement,
    "dropped branch": _dropped_branch,
    "initial value": _initial_value,
}


def of(code: str, most: int, chance: random.Random) -> list[Mutant]:
    """Return mutants of a program, operators in turn, each different from the program and the others.

    Args:
        code: Source of the program.
        most: Number of mutants.
        chance: Random numbers, which select among the places of an operator.
    """
    spans = [found.span() for found in _TOKEN.finditer(code) if found.lastgroup != "skip"]
    tokens = [code[start:end] for start, end in spans]
    seen, found = {code}, []
    for name, place, other in _in_turn(tokens, chance):
        start, end = spans[place]
        changed = code[:start] + other + code[end:]
        if changed not in seen:
            seen.add(changed)
            found.append(Mutant(name, code.count("\n", 0, start) + 1, changed))
        if len(found) == most:
            break
    return found


def _in_turn(tokens: Tokens, chance: random.Random) -> Iterator[tuple[str, int, str]]:
    queues = []
    for name, operator in OPERATORS.items():
        places = [(name, *each) for place in range(len(tokens)) for each in operator(tokens, place)]
        chance.shuffle(places)
        queues.append(places)
    return one_of_each(queues)
