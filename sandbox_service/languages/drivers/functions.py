"""The functions that the calls of a submission's tests name, and where its source has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.values import Call

SOLUTION = "Solution"
_INHERITS = re.compile(rf"\bclass\s+{SOLUTION}\b[^{{;]{{0,200}}?(?:\bextends\b|:)")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


@dataclass(frozen=True, order=True)
class Function:
    """A function that is called with a number of arguments.

    Attributes:
        owner: its class; empty if it is free.
        name: its name; that of the class if it is a constructor.
        count: the number of arguments.
    """

    owner: str
    name: str
    count: int

    @property
    def full_name(self) -> str:
        """The name in a message to the driver."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True)
class Functions:
    """Everything that a driver must be able to call, sorted.

    Attributes:
        plain: functions, and methods of a class that is made for the call.
        methods: of the classes of design problems, by class.
    """

    plain: tuple[Function, ...]
    methods: tuple[tuple[str, tuple[Function, ...]], ...]


@dataclass(frozen=True)
class Names:
    """The names of the source for the names in tests.

    Attributes:
        functions: full names, by the name in tests.
        methods: names of methods, by class and name in tests.
    """

    functions: Mapping[str, str]
    methods: Mapping[tuple[str, str], str]

    def spelled(self, call: Call) -> Call:
        """Return a call with the names of the source."""
        if call.operations is None:
            return replace(call, name=self.functions[call.name])
        return Call(call.name, (), [(self.methods[call.name, name], args) for name, args in call.operations])


def found(code: str, language: str, name: str) -> tuple[str, str]:
    """Return the class, empty if there is none, and the name of a function that a test names.

    Args:
        code: a masked source.
        language: its language.
        name: `f`, `Class.f` or `Class().f`.
    """
    owner, _, method = name.replace("()", "").rpartition(".")
    if owner:
        return owner, method
    for spelled in _spellings(method):  # suites for many languages have one spelling
        if owners := scan.owners(code, language, spelled):
            inherited = [SOLUTION] if _INHERITS.search(code) else []  # from the class that has it
            return next((each for each in (SOLUTION, "") if each in owners), [*inherited, *owners][0]), spelled
    return (SOLUTION if scan.has_class(code, SOLUTION, language) else ""), method


def _spellings(name: str) -> list[str]:
    """Return the name as given, and as languages write names: two_sum, twoSum, TwoSum."""
    words = [word.lower() for word in _WORD.findall(name)]
    capitals = [word.capitalize() for word in words]
    return [name, "_".join(words), "".join([*words[:1], *capitals[1:]]), "".join(capitals)]


def _method(code: str, language: str, owner: str, name: str) -> str:
    """Return the name of a method as the source spells it."""
    if name == owner:
        return name
    return next((each for each in _spellings(name) if scan.owners(code, language, each)), name)


def resolve(code: str, language: str, calls: Iterable[Call]) -> tuple[Functions, Names]:
    """Return the functions that the calls need, and the source's spelling of their names.

    Args:
        code: a masked source.
        language: its language.
        calls: the calls of all tests.
    """
    plain: dict[str, set[int]] = {}
    methods: dict[tuple[str, str], set[int]] = {}
    for call in calls:
        if call.operations is None:
            plain.setdefault(call.name, set()).add(len(call.args))
        for method, args in call.operations or ():
            methods.setdefault((call.name, method), set()).add(len(args))
    functions = {name: found(code, language, name) for name in plain}
    spelled = {(owner, name): _method(code, language, owner, name) for owner, name in methods}
    classes: dict[str, set[Function]] = {}
    for (owner, name), counts in methods.items():
        classes.setdefault(owner, set()).update(Function(owner, spelled[owner, name], count) for count in counts)
    wanted = {Function(*functions[name], count) for name, counts in plain.items() for count in counts}
    full = {name: ".".join(filter(None, parts)) for name, parts in functions.items()}
    return Functions(tuple(sorted(wanted)), tuple((o, tuple(sorted(m))) for o, m in sorted(classes.items()))), Names(
        full, spelled
    )
